/** Windows are reloaded, servers die, two windows share one machine: nothing that was typed or asked is lost. */
import assert from "node:assert/strict";
import { after, beforeEach } from "node:test";
import { writeFileSync } from "node:fs";
import { Desk } from "./desk/desk.mjs";
import { bash, calls, gated, hangs, says } from "./desk/model.mjs";
import { SERVER } from "./desk/places.mjs";
import { until } from "./desk/until.mjs";

const COLOURS = { header: "Colour", question: "Which colour?", options: [{ label: "red" }, { label: "blue" }] };

const desk = await Desk.open();
after(() => desk.close());
const { model } = desk;
const window = await desk.window();
const { chat } = window;
await chat.open();

beforeEach(async () => {
  desk.remove("one");
  await chat.fresh();
});

const setPath = (value) =>
  window.run("await vscode.workspace.getConfiguration('agentls').update('path', given ?? undefined, vscode.ConfigurationTarget.Global)", value);

/** Ends the server of a window without a word, and waits until it has another. */
async function killServer(of = window) {
  const pid = await until("a server", () => of.serverPid());
  process.kill(pid, "SIGKILL");
  await until("another server", () => ![undefined, pid].includes(of.serverPid()));
}

desk.test("a window reloaded in the middle of a stream shows what was said and that it was stopped, and goes on", async () => {
  await model.plays(hangs("Half an answer, which is long enough to be kept. "), says("The other half."));
  await chat.send("Go");
  await chat.says("Half an answer");
  await window.crash();
  await chat.open();
  await chat.prompts.getByText("Go", { exact: true }).waitFor();
  await chat.ending.getByText("Stopped").waitFor();
  await chat.button("Continue", chat.ending).click();
  await chat.says("The other half.");
  assert.equal(await chat.prompts.count(), 1);
});

desk.test("a window reloaded in the middle of a permission asks again, and the answer counts", async () => {
  await model.plays(bash("touch one"), says("Touched."));
  await chat.send("Touch");
  await chat.card.getByText("touch one").waitFor();
  await window.reload();
  await chat.open();
  await chat.card.getByText("touch one").waitFor();
  assert.ok(!desk.has("one"));
  await chat.allow();
  await chat.says("Touched.");
  assert.ok(desk.has("one"));
});

desk.test("a window reloaded in the middle of a question asks again, and the answer counts", async () => {
  await model.plays(calls("question", { questions: [COLOURS] }), says("Thank you."));
  await chat.send("Paint");
  await chat.card.getByText("Which colour?").waitFor();
  await window.reload();
  await chat.open();
  await chat.card.getByRole("radio", { name: /blue/ }).check();
  await chat.button("Answer", chat.card).click();
  await chat.says("Thank you.");
  assert.match(model.heard(), /→ blue/);
});

desk.test("a draft survives the reload of its window, and hiding the chat", async () => {
  await chat.input.fill("a long and careful prompt\nof two lines");
  await window.command("workbench.view.explorer");
  await chat.open();
  await chat.typed("a long and careful prompt\nof two lines");
  await chat.input.press("End");
  await chat.input.pressSequentially(" and more");
  await window.reload();
  await chat.open();
  await chat.typed("a long and careful prompt\nof two lines and more");
  await chat.input.fill("");
});

desk.test("a server killed in the middle of a stream: the turn ends, the session goes on", async () => {
  await model.plays(hangs("Half an answer"), says("A new one."));
  await chat.send("Go");
  await chat.says("Half an answer");
  await killServer();
  await chat.ending.getByText("Stopped").waitFor();
  await chat.send("Again");
  await chat.says("A new one.");
  assert.equal(await chat.prompts.count(), 2);
  assert.ok((await chat.count("Half an answer")) <= 1);
});

desk.test("a server killed in the middle of a question comes back with it", async () => {
  await model.plays(bash("touch one"), says("Touched."));
  await chat.send("Touch");
  await chat.card.getByText("touch one").waitFor();
  await killServer();
  await chat.frame.getByTestId("banner").waitFor({ state: "detached" });
  await chat.card.getByText("touch one").waitFor();
  await chat.allow();
  await chat.says("Touched.");
  assert.ok(desk.has("one"));
});

desk.test("what is sent while the server is down arrives once", async () => {
  await model.plays(says("First."), says("Second."));
  await chat.send("one");
  await chat.says("First.");
  await chat.isIdle();
  process.kill(window.serverPid(), "SIGKILL");
  await chat.frame.getByTestId("banner").waitFor();
  await chat.send("the second");
  await chat.says("Second.");
  assert.equal(await chat.prompts.count(), 2);
  assert.equal(model.heard().split("the second").length, 2);
});

desk.test("what is sent while the server starts arrives once, though it is restarted and the window reloaded meanwhile", async () => {
  const slow = desk.at("slow");
  writeFileSync(slow, `#!/bin/sh\nwhile [ ! -e ${slow}.go ]; do sleep 0.05; done\nexec ${SERVER}\n`, { mode: 0o755 });
  await model.plays(says("It came."));
  try {
    await setPath(slow);
    await chat.frame.getByTestId("banner").waitFor();
    await chat.send("a long and careful prompt");
    await chat.says("Waits for the server");
    await window.begin("agentls.restartServer");
    await window.reload();
    await chat.open();
    writeFileSync(`${slow}.go`, "");
    await chat.says("It came.");
    assert.equal(await chat.prompts.count(), 1);
    assert.equal(model.requests().length, 1);
  } finally {
    await setPath();
  }
});

desk.test("what is being typed when the server dies stays", async () => {
  await model.plays(says("First."), says("Second."));
  await chat.send("one");
  await chat.says("First.");
  await chat.input.pressSequentially("half of ");
  await killServer();
  await chat.input.pressSequentially("a prompt");
  await chat.typed("half of a prompt");
  await chat.input.press("Enter");
  await chat.says("Second.");
});

desk.test("two windows on one machine work side by side; another one's running session can be read", async () => {
  await model.plays(gated("Left is here", "left", ", left is done"), gated("Right is here", "right", ", right is done"));
  await chat.send("in the first window");
  await chat.says("Left is here");
  const other = await desk.window();
  await other.chat.open();
  await other.chat.fresh();
  await other.chat.send("in the second window");
  await other.chat.says("Right is here");
  await model.open("right");
  await other.chat.says("Right is here, right is done");
  assert.equal(await chat.count("Right is here"), 0);
  await other.begin("agentls.sessions");
  await other.choose(other.quickRowAt(2)); // after "New session" and the one that is shown
  await other.chat.says("in the first window");
  await other.chat.frame.getByText("here it can only be read").waitFor();
  await model.open("left");
  await chat.says("Left is here, left is done");
  await desk.closeWindow(other);
});
