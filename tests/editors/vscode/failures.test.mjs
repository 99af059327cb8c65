/** No server, a wrong one, one that dies again and again: the client says what happened and offers what helps. */
import assert from "node:assert/strict";
import { after, beforeEach } from "node:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Desk } from "./desk/desk.mjs";
import { says } from "./desk/model.mjs";
import { SERVER } from "./desk/places.mjs";
import { until } from "./desk/until.mjs";

const desk = await Desk.open({ bare: true });
after(() => desk.close());
const { model } = desk;
const window = await desk.window();
const { chat } = window;
const banner = chat.frame.getByTestId("banner");
await chat.open();

const setPath = (value) =>
  window.run("await vscode.workspace.getConfiguration('agentls').update('path', given ?? undefined, vscode.ConfigurationTarget.Global)", value);

const restart = () => window.command("agentls.restartServer").catch(() => {}); // the test looks at what is said of its end

function program(name, text) {
  const path = desk.at(name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** A program that answers `initialize` as `capabilities` say, and nothing else. */
function impostor(name, capabilities) {
  const answer = JSON.stringify({ capabilities });
  return program(
    name,
    `#!${process.execPath}
let rest = "";
process.stdin.on("data", (piece) => {
  rest += piece;
  const [, size] = /Content-Length: (\\d+)/i.exec(rest) ?? [];
  const start = rest.indexOf("\\r\\n\\r\\n") + 4;
  if (start < 4 || rest.length < start + Number(size)) return;
  const { id } = JSON.parse(rest.slice(start, start + Number(size)));
  rest = rest.slice(start + Number(size));
  if (id === undefined) return;
  const body = JSON.stringify({ jsonrpc: "2.0", id, result: ${answer} });
  process.stdout.write("Content-Length: " + Buffer.byteLength(body) + "\\r\\n\\r\\n" + body);
});
process.stdin.on("end", () => process.exit(0));
`,
  );
}

beforeEach(async () => {
  await chat.fresh().catch(() => {});
  await chat.input.fill("");
});

desk.test("no Python: the client says so, offers what helps, and keeps what was typed", async () => {
  await banner.getByText("agentls was not found").waitFor();
  await banner.getByText("No Python was found either").waitFor();
  await chat.button("Choose the program…", banner).waitFor();
  await chat.button("Read how", banner).waitFor();
  await chat.send("a long and careful prompt");
  await until("the words are still there", async () => {
    const everywhere = (await chat.input.inputValue()) + (await chat.frame.locator("body").innerText());
    return everywhere.includes("a long and careful prompt");
  });
});

desk.test("what would fetch the server is not started unasked: it is offered, and chosen it is what starts", async () => {
  const uvx = program("bin/uvx", `#!/bin/sh\necho "$*" >> ${desk.at("fetched")}\nexec ${SERVER}\n`);
  await restart();
  await banner.getByText("run it with uvx or pipx").waitFor();
  assert.equal(existsSync(desk.at("fetched")), false);
  await chat.button("Install agentls", banner).click();
  await window.choose(window.quickRow("Run with uvx"));
  await banner.waitFor({ state: "detached" });
  assert.equal(readFileSync(desk.at("fetched"), "utf8"), "agentls\n");
  rmSync(uvx);
  await setPath();
  await banner.getByText("No Python was found either").waitFor();
});

desk.test("no server: the client says where it looked, and the words arrive once it is there", async () => {
  symlinkSync("/bin/true", desk.at("bin", "python3"));
  await restart();
  await banner.getByText("neither uvx nor pipx").waitFor();
  await chat.input.fill("a long and careful prompt");
  await chat.input.press("Enter");
  await chat.typed("a long and careful prompt");
  mkdirSync(desk.at("project", ".venv", "bin"), { recursive: true });
  symlinkSync(SERVER, desk.at("project", ".venv", "bin", "agentls"));
  await model.plays(says("Here I am."));
  await chat.button("Restart the server", banner).click();
  await banner.waitFor({ state: "detached" });
  await chat.input.press("Enter");
  await chat.says("Here I am.");
});

desk.test("a path in the settings that leads nowhere is named", async () => {
  await setPath("/nowhere/agentls");
  await banner.getByText("The setting agentls.path names /nowhere/agentls").waitFor();
  await chat.button("Choose the program…", banner).waitFor();
});

desk.test("a server of another version of the protocol is refused with a reason", async () => {
  await setPath(impostor("newer", { experimental: { agentls: { protocolVersion: 99 } } }));
  await banner.getByText("speaks version 99 of the protocol").waitFor();
  await banner.getByText("Update both").waitFor();
});

desk.test("another language server than ours is refused with a reason", async () => {
  await setPath(impostor("other", { hoverProvider: true }));
  await banner.getByText("is no agentls server").waitFor();
});

desk.test("a server that ends again and again is given up with a reason, and can be started again", async () => {
  await setPath(program("broken", "#!/bin/sh\necho the disk is full >&2\nexit 3\n"));
  await banner.getByText("in a row").waitFor();
  await banner.getByText("the disk is full").waitFor();
  await chat.button("Show the log", banner).waitFor();
  program("broken", `#!/bin/sh\nexec ${SERVER}\n`);
  await model.plays(says("Whole again."));
  await chat.button("Restart the server", banner).click();
  await banner.waitFor({ state: "detached" });
  await chat.send("And now?");
  await chat.says("Whole again.");
});
