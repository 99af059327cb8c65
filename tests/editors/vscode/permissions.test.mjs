/** Permissions and questions: answered in the chat and in the editor's own dialogs, put off, withdrawn. */
import assert from "node:assert/strict";
import { after, beforeEach } from "node:test";
import { Desk } from "./desk/desk.mjs";
import { bash, calls, says } from "./desk/model.mjs";
import { until } from "./desk/until.mjs";

const COLOURS = {
  header: "Colour",
  question: "Which colour?",
  options: [{ label: "red", description: "like fire" }, { label: "blue" }],
};
const SIZE = { header: "Size", question: "How large?", options: [{ label: "small" }, { label: "large" }] };
const asks = (...questions) => calls("question", { questions });

const desk = await Desk.open();
after(() => desk.close());
const { model } = desk;
const window = await desk.window();
const { chat, quick } = window;
await chat.open();

beforeEach(async () => {
  for (const name of ["one", "two", "three"]) desk.remove(name);
  await chat.fresh();
});

/** Opens the editor's dialog of what is asked, as the user does. */
async function dialog(says) {
  await chat.card.waitFor();
  await window.begin("agentls.answer");
  await quick.getByPlaceholder(says).waitFor();
}

desk.test("once runs it and asks again the next time", async () => {
  await model.plays(bash("touch one"), bash("touch two"), says("Both."));
  await chat.send("Touch");
  await chat.card.getByText("touch one").waitFor();
  await chat.allow();
  await chat.card.getByText("touch two").waitFor();
  assert.ok(desk.has("one"));
  assert.ok(!desk.has("two"));
  await chat.allow();
  await chat.says("Both.");
  assert.ok(desk.has("two"));
});

desk.test("always shows what it stores, and stores it for this session", async () => {
  await model.plays(bash("touch one"), bash("touch two"), says("Both."), bash("touch three"), says("No."));
  await chat.send("Touch");
  await chat.button("Always allow…", chat.card).click();
  await chat.card.getByText("bash: touch *").waitFor();
  assert.ok(!desk.has("one"));
  await chat.button("In this session", chat.card).click();
  await chat.says("Both.");
  assert.ok(desk.has("two"));
  await chat.fresh();
  await chat.send("In another session");
  await chat.card.getByText("touch three").waitFor();
  await chat.button("Reject…", chat.card).click();
  await chat.button("Reject and stop", chat.card).click();
  await chat.ending.getByText("you said no").waitFor();
});

desk.test("a reject with words reaches the model, and the turn goes on", async () => {
  await model.plays(bash("rm -rf build"), says("I will not, then."));
  await chat.send("Clean up");
  await chat.button("Reject…", chat.card).click();
  await chat.card.getByRole("textbox").fill("use make clean");
  await chat.button("Reject and tell the agent", chat.card).click();
  await chat.says("I will not, then.");
  assert.match(model.heard(), /use make clean/);
});

desk.test("the editor's dialog allows once", async () => {
  await model.plays(bash("touch one"), says("Touched."));
  await chat.send("Touch");
  await dialog("touch one");
  await window.choose(window.quickRow("Allow once"));
  await chat.says("Touched.");
  assert.ok(desk.has("one"));
});

desk.test("the editor's dialog shows what always stores", async () => {
  await model.plays(bash("touch one"), bash("touch two"), says("Both."));
  await chat.send("Touch");
  await dialog("touch one");
  await window.choose(window.quickRow("Always…"));
  const row = window.quickRow("In this session");
  await row.getByText("allow bash: touch *").waitFor();
  await window.choose(row);
  await chat.says("Both.");
  assert.ok(desk.has("two"));
});

desk.test("the editor's dialog takes a reject with words", async () => {
  await model.plays(bash("rm -rf build"), says("I will not, then."));
  await chat.send("Clean up");
  await dialog("rm -rf build");
  await window.choose(window.quickRow("Reject with words…"));
  await quick.getByText("What should the agent do instead?").waitFor();
  await window.answer("use make clean");
  await chat.says("I will not, then.");
  assert.match(model.heard(), /use make clean/);
});

desk.test("dismissed it stays open: in the chat and in the dialog", async () => {
  await model.plays(bash("touch one"), says("Touched."));
  await chat.send("Touch");
  await dialog("touch one");
  await window.leaveQuick();
  await chat.card.getByText("touch one").waitFor();
  assert.ok(!desk.has("one"));
  await dialog("touch one");
  await window.choose(window.quickRow("Later"));
  await quick.waitFor({ state: "hidden" });
  await chat.isBusy("Waits for you");
  await chat.allow();
  await chat.says("Touched.");
});

desk.test("an open dialog goes away when the question is answered in the chat", async () => {
  await model.plays(bash("touch one"), says("Touched."));
  await chat.send("Touch");
  await dialog("touch one");
  await chat.allow();
  await chat.says("Touched.");
  await quick.waitFor({ state: "hidden" });
});

desk.test("a stop withdraws what was asked", async () => {
  await model.plays(bash("touch one"));
  await chat.send("Touch");
  await dialog("touch one");
  await window.command("agentls.stop");
  await chat.ending.getByText("Stopped").waitFor();
  await quick.waitFor({ state: "hidden" });
  await chat.card.waitFor({ state: "detached" });
  assert.ok(!desk.has("one"));
});

desk.test("an edit is shown in the diff editor beside, which goes when it is answered", async () => {
  const path = desk.write("sum.py", "def add(a, b):\n    return a - b\n");
  const edit = { filePath: path, oldString: "a - b", newString: "a + b" };
  await model.plays(calls("read", { filePath: path }), calls("edit", edit), says("Fixed."));
  await window.show("sum.py");
  await chat.send("Fix it");
  await chat.card.getByText("return a + b").waitFor();
  const diff = window.page.locator(".monaco-diff-editor");
  await diff.waitFor();
  await diff.locator(".editor.modified").getByText("a + b").waitFor();
  await diff.locator(".editor.original").getByText("a - b").waitFor();
  await chat.allow();
  await chat.says("Fixed.");
  await diff.waitFor({ state: "detached" });
  assert.equal(desk.read("sum.py"), "def add(a, b):\n    return a + b\n");
  await window.closeEditors();
});

desk.test("the diff's own title bar answers", async () => {
  const path = desk.write("sum.py", "a - b\n");
  const edit = { filePath: path, oldString: "a - b", newString: "a + b" };
  await model.plays(calls("read", { filePath: path }), calls("edit", edit), says("Fixed."));
  await chat.send("Fix it");
  await chat.button("Open diff in the editor", chat.card).click();
  const diff = window.page.locator(".monaco-diff-editor");
  await diff.waitFor();
  await window.page.locator(".part.editor").getByRole("button", { name: /Allow [Oo]nce/ }).first().click();
  await chat.says("Fixed.");
  await diff.waitFor({ state: "detached" });
});

desk.test("one answer is chosen in the chat", async () => {
  await model.plays(asks(COLOURS), says("Thank you."));
  await chat.send("Paint");
  await chat.card.getByText("Which colour?").waitFor();
  await chat.card.getByRole("radio", { name: /blue/ }).check();
  await chat.button("Answer", chat.card).click();
  await chat.says("Thank you.");
  assert.match(model.heard(), /→ blue/);
});

desk.test("several answers are chosen in the chat", async () => {
  await model.plays(asks({ ...COLOURS, multiple: true }), says("Thank you."));
  await chat.send("Paint");
  await chat.card.getByRole("checkbox", { name: /red/ }).check();
  await chat.card.getByRole("checkbox", { name: /blue/ }).check();
  await chat.button("Answer", chat.card).click();
  await chat.says("Thank you.");
  assert.match(model.heard(), /→ red, blue/);
});

desk.test("several questions come one after another, the last in own words", async () => {
  await model.plays(asks(COLOURS, SIZE), says("Thank you."));
  await chat.send("Paint");
  await chat.card.getByRole("radio", { name: /red/ }).check();
  await chat.button("Next", chat.card).click();
  await chat.card.getByText("How large?").waitFor();
  await chat.card.getByRole("textbox").fill("as large as a house");
  await chat.button("Answer", chat.card).click();
  await chat.says("Thank you.");
  assert.match(model.heard(), /→ red/);
  assert.match(model.heard(), /→ as large as a house/);
});

desk.test("a question that is dismissed in the chat stops the turn", async () => {
  await model.plays(asks(COLOURS));
  await chat.send("Paint");
  await chat.button("Dismiss", chat.card).click();
  await chat.ending.getByText("Stopped").waitFor();
  await chat.card.waitFor({ state: "detached" });
});

desk.test("the editor's dialog answers a question: one choice", async () => {
  await model.plays(asks(COLOURS), says("Thank you."));
  await chat.send("Paint");
  await dialog("Which colour?");
  await window.choose(window.quickRow("blue"));
  await chat.says("Thank you.");
  assert.match(model.heard(), /→ blue/);
});

desk.test("the editor's dialog answers a question: several choices", async () => {
  await model.plays(asks({ ...COLOURS, multiple: true }), says("Thank you."));
  await chat.send("Paint");
  await dialog("Which colour?");
  await window.quickRow("red").click();
  await window.quickRow("blue").click();
  await quick.getByRole("button", { name: "OK" }).click();
  await chat.says("Thank you.");
  assert.match(model.heard(), /→ red, blue/);
});

desk.test("the editor's dialog answers a question: own words", async () => {
  await model.plays(asks(COLOURS), says("Thank you."));
  await chat.send("Paint");
  await dialog("Which colour?");
  await window.choose(window.quickRow("Answer in own words…"));
  await quick.getByText("Which colour?").waitFor();
  await window.answer("a shade of green");
  await chat.says("Thank you.");
  assert.match(model.heard(), /→ a shade of green/);
});

desk.test("a question's dialog that is left stays open, and is dismissed there only when it is said", async () => {
  await model.plays(asks(COLOURS));
  await chat.send("Paint");
  await dialog("Which colour?");
  await window.leaveQuick();
  await chat.card.getByText("Which colour?").waitFor();
  await dialog("Which colour?");
  await window.choose(window.quickRow("Dismiss"));
  await chat.ending.getByText("Stopped").waitFor();
});

desk.test("the notification answers, without the chat in view; a bracket of the agent's takes no link", async () => {
  await model.plays({ events: [{ gate: "ask" }, ...touches("one # [Reject…"), { finish: "tool_calls" }, "done"] }, says("Touched."));
  await chat.send("Touch");
  await chat.isBusy();
  await window.command("workbench.view.explorer");
  await model.open("ask");
  await window.notices.getByText("touch one # [Reject… [bash]").waitFor();
  await window.notices.getByText("Allow once", { exact: true }).click();
  await until("the file", () => desk.has("one"));
  await window.notices.getByText("agentls asks").waitFor({ state: "detached" });
  await chat.open();
  await chat.says("Touched.");
});

desk.test("typing goes on while something is asked: no dialog takes the keys", async () => {
  desk.write("mine.txt", "");
  await model.plays({ events: [{ gate: "ask" }, ...touches("one"), { finish: "tool_calls" }, "done"] }, says("Touched."));
  await chat.send("Touch");
  await chat.isBusy();
  await window.show("mine.txt");
  await window.page.locator(".editor-instance .view-lines").first().click();
  await window.page.keyboard.type("a line that ");
  await model.open("ask");
  await chat.card.getByText("touch one").waitFor();
  await window.page.keyboard.type("goes on");
  await until("the whole line", async () => (await window.text("mine.txt")) === "a line that goes on");
  await chat.allow();
  await chat.says("Touched.");
  await window.closeEditors();
});

function touches(name) {
  const called = { name: "bash", arguments: JSON.stringify({ command: `touch ${name}` }) };
  return [{ delta: { tool_calls: [{ index: 0, id: "call_1", type: "function", function: called }] } }];
}
