// Tests only: runs what is posted to a socket, inside the extension host. One socket a window, named by its process.
const vscode = require("vscode");
const http = require("node:http");
const path = require("node:path");

const AsyncFunction = (async () => {}).constructor;

function body(request) {
  return new Promise((resolve) => {
    let text = "";
    request.on("data", (piece) => (text += piece));
    request.on("end", () => resolve(text));
  });
}

exports.activate = () => {
  const folder = process.env.AGENTLS_TEST_SOCKETS;
  if (!folder) return;
  const server = http.createServer(async (request, response) => {
    try {
      const { code, values } = JSON.parse(await body(request));
      const result = await new AsyncFunction("vscode", "require", "given", code)(vscode, require, values);
      response.end(JSON.stringify({ result: result ?? null }));
    } catch (error) {
      response.end(JSON.stringify({ error: String(error?.stack ?? error) }));
    }
  });
  server.listen(path.join(folder, String(process.pid)));
};
