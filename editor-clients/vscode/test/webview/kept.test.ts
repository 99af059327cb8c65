/** Nothing that was typed or chosen is lost, nothing fails in silence, and the keyboard always has a place. */
import assert from "node:assert/strict";
import test, { after, afterEach, before, beforeEach } from "node:test";
import { agent, attach, commandAsk, conversation, ended, question, SESSION, settled, state, tool, user } from "./fixtures";
import { type ChatPage, skip, Stage } from "./harness";

let stage: Stage | undefined;
let chat: ChatPage;

before(async () => { if (!skip) stage = await Stage.open(); });
after(async () => { await stage?.close(); });
beforeEach(async () => { if (stage) chat = await stage.page(); });
afterEach(async () => {
  if (!stage) return;
  assert.deepEqual(chat.errors, []);
  await chat.close();
});

const input = () => chat.page.getByTestId("input");
const busy = { status: { type: "busy" as const } };

test("words for a permission stay while it is folded and while another session is shown, and come back if they were not sent", { skip }, async () => {
  const ask = commandAsk("git push");
  const here = attach([user("x")], { pending: { permissions: [ask], questions: [] } });
  await chat.send(state(), here);
  const words = () => chat.page.getByLabel("What should the agent do instead?");
  await chat.page.getByRole("button", { name: "Reject…" }).click();
  await words().fill("use make");
  await words().press("Escape");
  await chat.page.getByRole("button", { name: "Reject…" }).click();
  assert.equal(await words().inputValue(), "use make");
  await chat.send({ type: "session" });
  assert.equal(await chat.page.getByTestId("card").count(), 0);
  assert.equal(await input().inputValue(), "");
  await chat.send(here);
  assert.equal(await words().inputValue(), "use make");
  await chat.send(settled(ask));
  assert.equal(await input().inputValue(), "use make");
  await chat.page.getByRole("alert").getByText("before your words were sent").waitFor();
});

test("words that were sent and not taken come back; those that were taken do not", { skip }, async () => {
  for (const [status, left] of [["accepted", ""], ["superseded", "use make"]] as const) {
    const ask = commandAsk("git push");
    await chat.send(state(), attach([user("x")], { pending: { permissions: [ask], questions: [] } }));
    await chat.page.getByRole("button", { name: "Reject…" }).click();
    await chat.page.keyboard.type("use make");
    await chat.page.keyboard.press("Enter");
    const { requestId } = await chat.posted("request");
    await chat.send({ type: "answer", requestId, result: { status } }, settled(ask));
    assert.equal(await input().inputValue(), left);
  }
});

test("what was chosen and typed is there when one goes back to a question", { skip }, async () => {
  await chat.send(state(), attach([user("x")], { pending: { permissions: [], questions: [question()] } }));
  await chat.page.getByLabel("Always up").check();
  await chat.page.getByRole("button", { name: "Next" }).click();
  await chat.page.getByLabel("Your own answer").fill("refunds");
  await chat.page.getByRole("button", { name: "Back" }).click();
  assert.ok(await chat.page.getByLabel("Always up").isChecked());
  await chat.page.getByRole("button", { name: "Next" }).click();
  assert.equal(await chat.page.getByLabel("Your own answer").inputValue(), "refunds");
});

test("a shell command takes no chips along, and they stay", { skip }, async () => {
  const chip = { label: "a.py 1–2", title: "a.py", part: { type: "file" as const, uri: "file:///a.py" } };
  await chat.send(state(), { type: "session" }, { type: "insert", chips: [chip], focus: true });
  await input().fill("! ls");
  await input().press("Enter");
  await chat.posted("shell");
  await chat.page.getByRole("button", { name: "Remove a.py 1–2" }).waitFor();
  assert.equal(await input().inputValue(), "");
});

test("what could not be loaded, stopped or gone on with is said, once", { skip }, async () => {
  const running = tool("bash", { status: "running", input: { command: "sleep 9" }, time: { start: 0 } });
  await chat.send(state(), attach([user("x"), agent(running)], busy, { nextCursor: "mark" }));
  for (const [button, words] of [["Show earlier messages", "Earlier messages could not be loaded: no"], ["Stop this tool", "Not stopped: no"]] as const) {
    await chat.page.getByRole("button", { name: button }).click();
    await chat.send({ type: "failed", requestId: (await chat.posted("request")).requestId, error: { message: "no", kind: "gone" } });
    await chat.page.getByRole("alert").getByText(words).waitFor();
  }
  await chat.send(ended("cancelled"), { type: "event", method: "session/status", params: { sessionId: SESSION, status: { type: "idle" } } });
  for (let times = 0; times < 2; times++) {
    await chat.page.getByRole("button", { name: "Continue" }).click();
    await chat.send({ type: "failed", requestId: (await chat.posted("request")).requestId, error: { message: "no", kind: "gone" } });
  }
  assert.equal(await chat.page.getByText("That did not work: no").count(), 1);
});

test("by keyboard nobody is left nowhere: after stop and remove the focus is in the prompt", { skip }, async () => {
  const focus = () => chat.page.evaluate(() => document.activeElement?.getAttribute("data-testid"));
  await chat.send(state(), attach(conversation(), busy, { queue: [{ messageId: "msg_q", text: "later", parts: [], createdAt: 1 }] }));
  await chat.page.getByRole("button", { name: "Remove from the queue: later" }).press("Enter");
  await chat.send({ type: "event", method: "queue/changed", params: { sessionId: SESSION, items: [], seq: 7 } });
  assert.equal(await focus(), "input");
  await chat.page.getByRole("button", { name: "Stop", exact: true }).press("Enter");
  await chat.send(ended("cancelled"), { type: "event", method: "session/status", params: { sessionId: SESSION, status: { type: "idle" } } });
  assert.equal(await focus(), "input");
});
