/** The user's own text is the truth: unsaved text is read and edited, with the editor's undo, and nothing is lost. */
import assert from "node:assert/strict";
import { after, beforeEach } from "node:test";
import { writeFileSync } from "node:fs";
import { Desk } from "./desk/desk.mjs";
import { calls, says } from "./desk/model.mjs";
import { until } from "./desk/until.mjs";

const TEXT = "one\ntwo\nthree\nfour\nfive\n";

const desk = await Desk.open();
after(() => desk.close());
const { model } = desk;
const window = await desk.window();
const { chat } = window;
await chat.open();

let path;
let name;
let number = 0;

beforeEach(async () => {
  await window.closeEditors();
  name = `text-${++number}.txt`;
  path = desk.write(name, TEXT);
  await chat.fresh();
  await window.show(name);
});

const reads = () => calls("read", { filePath: path });
const edits = (oldString, newString) => calls("edit", { filePath: path, oldString, newString });
const textIs = (text) => until(`the editor's text is ${JSON.stringify(text)}`, async () => (await window.text(name)) === text);

/** What the tools of the last request gave back. */
const results = () => JSON.stringify(model.requests().at(-1).messages.filter(({ role }) => role === "tool"));

async function undo() {
  await window.show(name);
  await window.command("undo");
}

desk.test("unsaved text is what the agent reads", async () => {
  await window.insertLine(2, "typed and not saved");
  await model.plays(reads(), says("I read it."));
  await chat.send("Read it");
  await chat.says("I read it.");
  assert.match(results(), /typed and not saved/);
  assert.equal(desk.read(name), TEXT);
});

desk.test("an edit of unsaved text leaves it unsaved, and is one step of undo beside the user's own", async () => {
  await window.insertLine(4, "mine");
  await model.plays(reads(), edits("two", "TWO"), says("Edited."));
  await chat.send("Edit it");
  await chat.allow();
  await chat.says("Edited.");
  await textIs("one\nTWO\nthree\nfour\nmine\nfive\n");
  assert.equal(await window.isDirty(name), true);
  assert.equal(desk.read(name), TEXT);
  await undo();
  await textIs("one\ntwo\nthree\nfour\nmine\nfive\n");
  await undo();
  await textIs(TEXT);
  await window.command("redo");
  await window.command("redo");
  await textIs("one\nTWO\nthree\nfour\nmine\nfive\n");
});

desk.test("an edit of a clean open file goes through the editor and is saved", async () => {
  await model.plays(reads(), edits("two", "TWO"), says("Edited."));
  await chat.send("Edit it");
  await chat.allow();
  await chat.says("Edited.");
  const edited = TEXT.replace("two", "TWO");
  await textIs(edited);
  await until("the file on disk", () => desk.read(name) === edited);
  assert.equal(await window.isDirty(name), false);
  await undo();
  await textIs(TEXT);
});

desk.test("where editor and disk both changed the edit is refused, and both texts stay", async () => {
  await window.insertLine(4, "mine");
  writeFileSync(path, `${TEXT}theirs\n`);
  await model.plays(reads(), edits("two", "TWO"), says("I leave it."));
  await chat.send("Edit it");
  await chat.says("I leave it.");
  assert.equal(await window.text(name), "one\ntwo\nthree\nfour\nmine\nfive\n");
  assert.equal(desk.read(name), `${TEXT}theirs\n`);
  assert.match(results(), /was not changed: the user has changes in the editor that are not saved/);
});

desk.test("an edit of text that the user changed meanwhile is not made, and the agent is told", async () => {
  await model.plays(reads(), edits("two", "TWO"), says("I look again."));
  await chat.send("Edit it");
  await chat.card.waitFor();
  await window.show(name);
  await window.run(
    `const range = new vscode.Range(1, 0, 1, 3);
     await vscode.window.activeTextEditor.edit((edit) => edit.replace(range, "words of mine"));`,
  );
  await chat.allow();
  await chat.says("I look again.");
  assert.equal(await window.text(name), TEXT.replace("two", "words of mine"));
  assert.match(results(), /changed since you read it.*words of mine/);
});

desk.test("what the user types elsewhere meanwhile is told to the agent, and kept by its next try", async () => {
  await model.plays(reads(), edits("two", "TWO"), edits("two", "TWO"), says("Done."));
  await chat.send("Edit it");
  await chat.card.waitFor();
  await window.show(name);
  await window.insertLine(4, "typed meanwhile");
  await chat.allow();
  await until("the second try", () => model.requests().length === 3);
  assert.match(results(), /changed since you read it.*typed meanwhile/);
  await chat.allow();
  await chat.says("Done.");
  await textIs("one\nTWO\nthree\nfour\ntyped meanwhile\nfive\n");
  assert.equal(desk.read(name), TEXT);
});

desk.test("problems of two programs, of which one is behind the text, are not passed off as those of the text", async () => {
  const judge = (program, message) =>
    window.run(
      `globalThis[given.program] ??= vscode.languages.createDiagnosticCollection(given.program);
       const { uri } = vscode.window.activeTextEditor.document;
       globalThis[given.program].set(uri, [new vscode.Diagnostic(new vscode.Range(0, 0, 0, 1), given.message)]);`,
      { program, message },
    );
  await judge("slow", "of the text before");
  await window.insertLine(0, "typed since");
  await judge("quick", "of the text now");
  await model.plays(calls("diagnostics", { filePath: path }), says("I see them."));
  await chat.send("What is wrong?");
  await chat.says("I see them.");
  assert.match(results(), /of the text before/);
  assert.match(results(), /of the text now/);
  assert.match(results(), /does not say which text this is about/);
  await window.run("for (const one of given) globalThis[one].dispose();", ["slow", "quick"]);
});

desk.test("a new file is written to disk", async () => {
  path = path.replace(name, `new-${name}`);
  await model.plays(calls("write", { filePath: path, content: "brand new\n" }), says("Written."));
  await chat.send("Write it");
  await chat.allow();
  await chat.says("Written.");
  assert.equal(desk.read(`new-${name}`), "brand new\n");
});
