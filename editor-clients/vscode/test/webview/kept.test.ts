/** Nothing that was typed or chosen is lost, nothing fails in silence, and the keyboard always has a place. */
import assert from "node:assert/strict";
import test from "node:test";
import { agent, attach, commandAsk, conversation, ended, question, SESSION, settled, state, tool, user } from "./fixtures";
import { freshPages, skip } from "./harness";

const pages = freshPages();

const input = () => pages.chat.page.getByTestId("input");
const busy = { status: { type: "busy" as const } };

test("words for a permission stay while it is folded and while another session is shown, and come back if they were not sent", { skip }, async () => {
  const ask = commandAsk("git push");
  const here = attach([user("x")], { pending: { permissions: [ask], questions: [] } });
  await pages.chat.send(state(), here);
  const words = () => pages.chat.page.getByLabel("What should the agent do instead?");
  await pages.chat.page.getByRole("button", { name: "Reject…" }).click();
  await words().fill("use make");
  await words().press("Escape");
  await pages.chat.page.getByRole("button", { name: "Reject…" }).click();
  assert.equal(await words().inputValue(), "use make");
  await pages.chat.send({ type: "session" });
  assert.equal(await pages.chat.page.getByTestId("card").count(), 0);
  assert.equal(await input().inputValue(), "");
  await pages.chat.send(here);
  assert.equal(await words().inputValue(), "use make");
  await pages.chat.send(settled(ask));
  assert.equal(await input().inputValue(), "use make");
  await pages.chat.page.getByRole("alert").getByText("before your words were sent").waitFor();
});

test("words that were sent and not taken come back; those that were taken do not", { skip }, async () => {
  for (const [status, left] of [["accepted", ""], ["superseded", "use make"]] as const) {
    const ask = commandAsk("git push");
    await pages.chat.send(state(), attach([user("x")], { pending: { permissions: [ask], questions: [] } }));
    await pages.chat.page.getByRole("button", { name: "Reject…" }).click();
    await pages.chat.page.keyboard.type("use make");
    await pages.chat.page.keyboard.press("Enter");
    const { requestId } = await pages.chat.posted("request");
    await pages.chat.send({ type: "answer", requestId, result: { status } }, settled(ask));
    assert.equal(await input().inputValue(), left);
  }
});

test("what was chosen and typed is there when one goes back to a question", { skip }, async () => {
  await pages.chat.send(state(), attach([user("x")], { pending: { permissions: [], questions: [question()] } }));
  await pages.chat.page.getByLabel("Always up").check();
  await pages.chat.page.getByRole("button", { name: "Next" }).click();
  await pages.chat.page.getByLabel("Your own answer").fill("refunds");
  await pages.chat.page.getByRole("button", { name: "Back" }).click();
  assert.ok(await pages.chat.page.getByLabel("Always up").isChecked());
  await pages.chat.page.getByRole("button", { name: "Next" }).click();
  assert.equal(await pages.chat.page.getByLabel("Your own answer").inputValue(), "refunds");
});

test("a shell command takes no chips along, and they stay", { skip }, async () => {
  const chip = { label: "a.py 1–2", title: "a.py", part: { type: "file" as const, uri: "file:///a.py" } };
  await pages.chat.send(state(), { type: "session" }, { type: "insert", chips: [chip], focus: true });
  await input().fill("! ls");
  await input().press("Enter");
  await pages.chat.posted("shell");
  await pages.chat.page.getByRole("button", { name: "Remove a.py 1–2" }).waitFor();
  assert.equal(await input().inputValue(), "");
});

test("what could not be loaded, stopped or gone on with is said, once", { skip }, async () => {
  const running = tool("bash", { status: "running", input: { command: "sleep 9" }, time: { start: 0 } });
  await pages.chat.send(state(), attach([user("x"), agent(running)], busy, { nextCursor: "mark" }));
  for (const [button, words] of [["Show earlier messages", "Earlier messages could not be loaded: no"], ["Stop this tool", "Not stopped: no"]] as const) {
    await pages.chat.page.getByRole("button", { name: button }).click();
    await pages.chat.send({ type: "failed", requestId: (await pages.chat.posted("request")).requestId, error: { message: "no", kind: "gone" } });
    await pages.chat.page.getByRole("alert").getByText(words).waitFor();
  }
  await pages.chat.send(ended("cancelled"), { type: "event", method: "session/status", params: { sessionId: SESSION, status: { type: "idle" } } });
  for (let times = 0; times < 2; times++) {
    await pages.chat.page.getByRole("button", { name: "Continue" }).click();
    await pages.chat.send({ type: "failed", requestId: (await pages.chat.posted("request")).requestId, error: { message: "no", kind: "gone" } });
  }
  assert.equal(await pages.chat.page.getByText("That did not work: no").count(), 1);
});

test("by keyboard nobody is left nowhere: after stop and remove the focus is in the prompt", { skip }, async () => {
  const focus = () => pages.chat.page.evaluate(() => document.activeElement?.getAttribute("data-testid"));
  await pages.chat.send(state(), attach(conversation(), busy, { queue: [{ messageId: "msg_q", text: "later", parts: [], createdAt: 1 }] }));
  await pages.chat.page.getByRole("button", { name: "Remove from the queue: later" }).press("Enter");
  await pages.chat.send({ type: "event", method: "queue/changed", params: { sessionId: SESSION, items: [], seq: 7 } });
  assert.equal(await focus(), "input");
  await pages.chat.page.getByRole("button", { name: "Stop", exact: true }).press("Enter");
  await pages.chat.send(ended("cancelled"), { type: "event", method: "session/status", params: { sessionId: SESSION, status: { type: "idle" } } });
  assert.equal(await focus(), "input");
});

test("what was sent is said again by the page that takes this one's place, until the host has said that it has it", { skip }, async () => {
  await pages.chat.send(state(), { type: "session" });
  await input().fill("Go");
  await input().press("Enter");
  const sent = await pages.chat.posted("prompt");
  await pages.chat.page.reload();
  assert.deepEqual((await pages.chat.posted("ready")).sending, [sent]);
  await pages.chat.send({ type: "taken", messageId: sent.messageId });
  await pages.chat.page.reload();
  assert.deepEqual((await pages.chat.posted("ready")).sending, []);
});

test("what the host does not say that it has is said again, in its session only", { skip }, async () => {
  await pages.chat.send(state(), attach([user("x")]));
  await input().fill("Go");
  await input().press("Enter");
  const sent = await pages.chat.posted("prompt");
  assert.deepEqual(await pages.chat.posted("prompt"), sent);
  await pages.chat.send({ type: "session" });
  await pages.chat.forget();
  await input().fill("elsewhere");
  await input().press("Enter");
  for (let times = 0; times < 2; times++) assert.equal((await pages.chat.posted("prompt")).draft.text, "elsewhere");
  await pages.chat.send(attach([user("x")]));
  await pages.chat.forget();
  assert.deepEqual(await pages.chat.posted("prompt"), sent);
});

test("a page keeps the chat's name and its session for the host", { skip }, async () => {
  const kept = () => pages.chat.page.evaluate(() => sessionStorage.getItem("state"));
  assert.deepEqual(JSON.parse((await kept()) ?? ""), { chat: "view", sending: [] });
  await pages.chat.send(state(), attach([user("x")]));
  assert.deepEqual(JSON.parse((await kept()) ?? ""), { chat: "view", sending: [], sessionId: SESSION });
});

test("what is typed is told at once, and that it was sent as well", { skip }, async () => {
  await pages.chat.send(state(), { type: "session" });
  const drafts = () => pages.chat.page.evaluate(() => window.posted.flatMap((message) => (message.type === "draft" ? [message.draft.text] : [])));
  const told = await input().evaluate((element: HTMLTextAreaElement) => {
    element.value = "Go";
    element.dispatchEvent(new InputEvent("input", { bubbles: true }));
    return window.posted.at(-1);
  });
  assert.deepEqual(told, { type: "draft", draft: { text: "Go", chips: [] } });
  await input().press("Enter");
  assert.deepEqual(await drafts(), ["Go", ""]);
});
