// An editor on vscode-jsonrpc: starts the server, leads one prompt to its end, prints what it saw as one JSON line.
"use strict";

const { spawn } = require("node:child_process");
const { pathToFileURL } = require("node:url");
const rpc = require("vscode-jsonrpc/node");

const [command, folder, prompt] = [JSON.parse(process.argv[2]), process.argv[3], process.argv[4]];

async function main() {
  const server = spawn(command[0], command.slice(1), { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
  const exited = new Promise((resolve) => server.once("exit", resolve));
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  const seen = { events: [], deltas: {}, parts: {}, asked: [], errors: [] };
  connection.onError(([error]) => seen.errors.push(String(error)));
  connection.onUnhandledNotification((message) => seen.events.push(message.method));
  connection.onNotification("part/delta", (params) => {
    seen.events.push("part/delta");
    const key = `${params.partId} ${params.field}`;
    seen.deltas[key] = (seen.deltas[key] ?? "") + params.delta;
  });
  connection.onNotification("part/updated", ({ part }) => {
    seen.events.push("part/updated");
    seen.parts[part.id] = part;
  });
  connection.onNotification("permission/asked", async (asked) => {
    seen.events.push("permission/asked");
    seen.asked.push(asked);
    await connection.sendRequest("permission/reply", { permissionId: asked.permissionId, reply: "once" });
  });
  const ended = new Promise((resolve) => connection.onNotification("turn/ended", resolve));
  connection.listen();

  const uri = pathToFileURL(folder).href;
  seen.initialize = await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: uri,
    workspaceFolders: [{ uri, name: "folder" }],
    capabilities: {},
    initializationOptions: {
      agentls: { protocolVersion: 1, clientId: "node", ui: { permission: true, question: true }, trusted: true },
    },
  });
  await connection.sendNotification("initialized", {});
  const { session } = await connection.sendRequest("session/create", { directory: folder });
  seen.accepted = await connection.sendRequest("session/prompt", {
    sessionId: session.id,
    parts: [{ type: "text", text: prompt }],
  });
  seen.ended = await ended;

  const source = new rpc.CancellationTokenSource();
  const waiting = connection.sendRequest(
    "session/prompt",
    { sessionId: session.id, parts: [{ type: "text", text: "wait here" }], wait: "idle" },
    source.token,
  );
  const cancelled = new Promise((resolve) => connection.onNotification("turn/ended", resolve));
  connection.onNotification("part/delta", () => source.cancel());
  seen.cancelled = await waiting.catch((error) => ({ code: error.code, data: error.data }));
  seen.cancelledTurn = await cancelled;
  seen.refused = await connection
    .sendRequest("session/get", { sessionId: "ses_none" })
    .catch((error) => ({ code: error.code, data: error.data }));
  seen.unknown = await connection.sendRequest("no/such").catch((error) => ({ code: error.code, data: error.data }));

  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  seen.exitCode = await exited;
  return seen;
}

main().then(
  (seen) => process.stdout.write(JSON.stringify(seen) + "\n", () => process.exit(0)),
  (error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  },
);
