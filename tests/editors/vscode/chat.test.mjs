/** The conversation: first prompt, streaming, tools, thoughts, steering, the queue, stopping, shell, sessions. */
import assert from "node:assert/strict";
import { after, beforeEach } from "node:test";
import { Desk } from "./desk/desk.mjs";
import { bash, calls, gated, hangs, says } from "./desk/model.mjs";
import { until } from "./desk/until.mjs";

const WAITS = "while [ ! -f go ]; do sleep 0.05; done";

const desk = await Desk.open();
after(() => desk.close());
const { model } = desk;
const window = await desk.window();
const { chat, page } = window;
await chat.open();

beforeEach(() => chat.fresh());

desk.test("text appears while it is written, as Markdown", async () => {
  await model.plays(gated("Some **bold** words and ", "half", "the rest.\n\n```python\nprint(41 + 1)\n```\n"));
  await chat.send("Tell me");
  await chat.says("Some bold words and");
  await chat.isBusy();
  assert.equal(await chat.log.getByText("print(41 + 1)").count(), 0);
  assert.equal(await chat.answers.locator("strong").innerText(), "bold");
  await model.open("half");
  await chat.says("print(41 + 1)");
  await chat.isIdle();
  assert.deepEqual(model.requests().length, 1);
});

desk.test("code is copied by its button", async () => {
  await model.plays(says("```python\nprint(41 + 1)\n```"));
  await chat.send("Code");
  await chat.button("Copy code, python").click();
  await until("the clipboard", async () => (await window.run("return vscode.env.clipboard.readText()")) === "print(41 + 1)\n");
});

desk.test("the keyboard alone is enough: to the chat, a prompt, stopping", async () => {
  await model.plays(hangs("On and on"), says("Fresh."));
  await window.command("workbench.action.closeSidebar");
  await until("the side bar is closed", () => page.locator(".part.sidebar").isHidden());
  await until("the focus is in the editor's own part", async () => {
    await window.command("workbench.action.focusActiveEditorGroup"); // the page keeps it, though it is hidden
    return await page.evaluate(() => !document.activeElement?.matches("iframe"));
  });
  await window.palette("agentls: Open Chat", () => chat.hasFocus());
  await page.keyboard.type("Go on");
  await page.keyboard.press("Enter");
  await chat.says("On and on");
  await page.keyboard.press("Control+Escape");
  await chat.ending.getByText("Stopped").waitFor();
  await page.keyboard.type("Again");
  await page.keyboard.press("Enter");
  await chat.says("Fresh.");
});

desk.test("Stop ends the turn in the middle of a stream, and the session goes on", async () => {
  await model.plays(hangs("On and on"), says("Fresh."));
  await chat.send("Go");
  await chat.says("On and on");
  await chat.button("Stop", chat.status).click();
  await chat.ending.getByText("Stopped").waitFor();
  await chat.isIdle();
  await chat.send("Again");
  await chat.says("Fresh.");
  assert.match(model.heard(), /On and on/);
});

desk.test("a tool's output shows while it runs, and in its row when it is done", async () => {
  await model.plays(bash(`echo first; ${WAITS}; echo second`), says("It ran."));
  await chat.send("Run it");
  await chat.allow();
  const row = chat.tool("bash");
  await row.getByText("first", { exact: true }).waitFor();
  assert.equal(await row.getAttribute("data-status"), "running");
  desk.write("go", "");
  await chat.says("It ran.");
  assert.equal(await row.getAttribute("data-status"), "completed");
  await row.getByRole("button").first().click();
  await row.getByText("second").last().waitFor();
  desk.remove("go");
});

desk.test("the user's own command runs without the model", async () => {
  await model.plays();
  await chat.send("!echo from-the-$((40+2))");
  const row = chat.tool("bash");
  await until("its end", async () => (await row.getAttribute("data-status")) === "completed");
  await row.getByRole("button").first().click();
  await row.getByText("from-the-42").waitFor();
  assert.deepEqual(model.requests(), []);
});

desk.test("a second prompt steers the turn that runs", async () => {
  await model.plays(bash(WAITS), says("As you wish."));
  await chat.send("Run it");
  await chat.allow();
  await until("the command", async () => (await chat.tool("bash").getAttribute("data-status")) === "running");
  await chat.send("and be quick");
  await chat.prompts.getByText("and be quick").waitFor();
  desk.write("go", "");
  await chat.says("As you wish.");
  await chat.isIdle();
  assert.equal(model.requests().length, 2);
  assert.match(model.heard(), /and be quick/);
  desk.remove("go");
});

desk.test("queued prompts wait for the end of the turn; one that is taken out is never sent", async () => {
  await model.plays(gated("One", "one"), says("Three."));
  await chat.send("the first");
  await chat.says("One");
  await chat.queue("the second");
  await chat.queued.getByText("the second").waitFor();
  await chat.queue("the third");
  await chat.queued.getByText("the third").waitFor();
  await chat.button("Remove from the queue: the second").click();
  await chat.queued.getByText("the second").waitFor({ state: "detached" });
  await model.open("one");
  await chat.says("Three.");
  await chat.isIdle();
  await chat.queued.waitFor({ state: "hidden" });
  assert.equal(model.requests().length, 2);
  assert.doesNotMatch(model.heard(), /the second/);
});

desk.test("thoughts are folded and open on request", async () => {
  await model.plays({ reasoning: "first this\nthen that", text: "Done thinking." });
  await chat.send("Think");
  await chat.says("Done thinking.");
  assert.equal(await chat.log.getByText("then that").count(), 0);
  await chat.answers.getByRole("button", { name: /^Thought/ }).click();
  await chat.says("then that");
});

desk.test("the list of things to do stands below the conversation", async () => {
  const todos = [
    { content: "look around", status: "completed", priority: "high" },
    { content: "fix it", status: "in_progress", priority: "high" },
    { content: "tell", status: "pending", priority: "low" },
  ];
  await model.plays(calls("todowrite", { todos }), gated("I have a plan.", "end"));
  await chat.send("Plan");
  const list = chat.frame.getByRole("region", { name: "To do" });
  await list.getByText("To do 1 of 3").waitFor();
  await list.getByText("fix it").first().waitFor();
  await model.open("end");
  await chat.isIdle();
});

desk.test("a failed turn says why and can be tried again", async () => {
  await model.plays({ status: 401, body: { error: { message: "that key is wrong" } } }, says("Now it is right."));
  await chat.send("Hello");
  await chat.ending.getByText("that key is wrong").waitFor();
  await chat.button("Try again", chat.ending).click();
  await chat.says("Now it is right.");
});

desk.test("the selection goes with the prompt as a chip, unsaved as it is", async () => {
  desk.write("chosen.py", "first = 1\nsecond = 2\n");
  await window.show("chosen.py");
  await window.insertLine(1, "typed_and_not_saved = 3");
  await window.run("vscode.window.activeTextEditor.selection = new vscode.Selection(1, 0, 2, 0)");
  await model.plays(says("I see it."));
  await chat.input.fill("");
  await chat.input.pressSequentially("What is @selection");
  await chat.frame.getByRole("option", { name: /selection/ }).click();
  await chat.frame.getByRole("list", { name: "Attached" }).getByRole("listitem").waitFor();
  await chat.input.press("Enter");
  await chat.says("I see it.");
  assert.match(model.heard(), /typed_and_not_saved/);
  await window.closeEditors();
});

desk.test("two sessions of one window stream side by side; the list leads from one to the other", async () => {
  await model.plays(gated("Left is here", "left", ", left is done"), gated("Right is here", "right", ", right is done"));
  await chat.send("to the left");
  await chat.says("Left is here");
  await chat.fresh();
  await chat.send("to the right");
  await chat.says("Right is here");
  assert.equal(await chat.count("Left is here"), 0);
  await model.open("right");
  await chat.says("Right is here, right is done");
  await window.begin("agentls.sessions");
  await window.choose(window.quickRow("busy"));
  await chat.says("Left is here");
  await chat.isBusy();
  assert.equal(await chat.count("Right is here"), 0);
  await model.open("left");
  await chat.says("Left is here, left is done");
  await window.begin("agentls.sessions");
  await window.choose(window.quickRowAt(2)); // after "New session" and the newest
  await chat.says("Right is here, right is done");
});

desk.test("nothing was asked of another machine", () => {
  assert.deepEqual(window.foreign, []);
});
