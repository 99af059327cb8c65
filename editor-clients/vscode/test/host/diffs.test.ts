/** Diffs in the editor: they go with what they are of, and leave nothing behind. */
import assert from "node:assert/strict";
import test, { afterEach, beforeEach } from "node:test";
import type { FileDiff, Permission } from "../../src/protocol";
import { Diffs } from "../../src/host/diffs";
import { editor, type TabInputTextDiff } from "./vscode";

const PATCH = "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n";
const file = (name: string): FileDiff => ({ uri: `file:///ws/${name}`, patch: PATCH });

function asking(id: string, ...files: FileDiff[]): Permission {
  const of = { sessionId: "ses_a", rootSessionId: "ses_a", agent: "build", turnId: "trn_1", messageId: "msg_1" };
  return { ...of, permissionId: id, permission: "edit", title: `edit ${id}`, patterns: [], metadata: { files }, options: [], createdAt: 1 };
}

let diffs: Diffs;

beforeEach(() => {
  diffs = new Diffs();
  editor.read = () => Promise.resolve(new TextEncoder().encode("one\n"));
});
afterEach(() => {
  diffs.dispose();
  editor.close(editor.tabs);
});

/** What the editor shows in the only tab. */
function sides(): string[] {
  const input = editor.tabs[0]?.input as TabInputTextDiff;
  const asked = diffs as unknown as { provideTextDocumentContent(uri: unknown): string };
  return [asked.provideTextDocumentContent(input.original), asked.provideTextDocumentContent(input.modified)];
}

test("what is asked is shown, and taken away when it is settled", async () => {
  await diffs.showAsked(asking("per_1", file("a.txt")), false);
  assert.deepEqual(sides(), ["one\n", "two\n"]);
  await diffs.close("per_1");
  assert.deepEqual(editor.tabs, []);
});

for (const count of [1, 2])
  test(`what is settled while its files are read opens no tab: ${count} of them`, async () => {
    let read: (bytes: Uint8Array) => void = () => undefined;
    const bytes = new Promise<Uint8Array>((resolve) => { read = resolve; });
    editor.read = () => bytes;
    const shown = diffs.showAsked(asking("per_1", ...["a.txt", "b.txt"].slice(0, count).map(file)), false);
    await diffs.close("per_1");
    read(new TextEncoder().encode("one\n"));
    await shown;
    assert.deepEqual(editor.tabs, []);
  });

for (const count of [1, 2])
  test(`what is settled while its tab opens is taken away: ${count} files`, async () => {
    const open = editor.open.bind(editor);
    editor.open = (tab) => {
      editor.open = open;
      void diffs.close("per_1").then(() => { open(tab); }); // nothing there yet to be closed
    };
    await diffs.showAsked(asking("per_1", ...["a.txt", "b.txt"].slice(0, count).map(file)), false);
    assert.deepEqual(editor.tabs, []);
  });

test("whole files are not kept for a tab that the user has closed", async () => {
  await diffs.showDone("prt_1", [file("a.txt")]);
  const [tab] = editor.tabs;
  assert.ok(tab);
  assert.notDeepEqual(sides(), ["", ""]);
  editor.close([tab]);
  editor.tabs.push(tab);
  assert.deepEqual(sides(), ["", ""]);
});

test("a tab that is closed takes nothing from those that stay", async () => {
  await diffs.showDone("prt_1", [file("a.txt")]);
  await diffs.showDone("prt_2", [file("b.txt")]);
  editor.close(editor.tabs.slice(1));
  assert.notDeepEqual(sides(), ["", ""]);
});
