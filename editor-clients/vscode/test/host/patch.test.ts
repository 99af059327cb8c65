import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { applied, reversed } from "../../src/host/patch";

const CASES: [name: string, before: string, after: string][] = [
  ["a changed line", "a\nb\nc\n", "a\nB\nc\n"],
  ["a new file", "", "one\ntwo\n"],
  ["an emptied file", "one\ntwo\n", ""],
  ["a last line without ending, changed", "a\nb", "a\nc"],
  ["a last line that gets its ending", "a\nb", "a\nb\n"],
  ["a last line that loses its ending", "a\nb\n", "a\nb"],
  ["lines at both ends", "x\n1\n2\n3\n4\n5\n6\n7\n8\n9\ny\n", "X\n1\n2\n3\n4\n5\n6\n7\n8\n9\nY\nz\n"],
  ["lines put in at the top", "a\nb\nc\nd\n", "new\na\nb\nc\nd\n"],
  ["lines that look like signs", "- a\n+ b\n@@ c\n-- d\n", "- a\n+ b\n@@ C\n-- d\n--- e\n"],
  ["lines that look like the names of files", "-- d\n++ e\nx\n", "++ e\n-- f\nx\n"],
  ["a blank line", "a\n\nb\n", "a\n\n\nb\n"],
];

/** As the system's own diff writes it. */
function unified(before: string, after: string): string {
  const folder = mkdtempSync(join(tmpdir(), "patch-"));
  try {
    writeFileSync(join(folder, "before"), before);
    writeFileSync(join(folder, "after"), after);
    execFileSync("diff", ["-u", "before", "after"], { cwd: folder, encoding: "utf8" });
    return "";
  } catch (error) {
    return (error as { stdout: string }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const [name, before, after] of CASES) {
  test(`a patch applies, and its reverse undoes it: ${name}`, () => {
    const patch = unified(before, after);
    assert.notEqual(patch, "");
    assert.equal(applied(before, patch), after);
    assert.equal(applied(after, reversed(patch)), before);
  });
}

test("a patch finds its place when lines came before it", () => {
  const patch = unified("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nd\nE\nf\ng\nh\n");
  assert.equal(applied("new\nnewer\na\nb\nc\nd\ne\nf\ng\nh\n", patch), "new\nnewer\na\nb\nc\nd\nE\nf\ng\nh\n");
});

test("a patch of another text is not applied", () => {
  assert.equal(applied("x\ny\n", unified("a\nb\n", "a\nc\n")), undefined);
});

test("a text with CRLF takes a patch with LF", () => {
  assert.equal(applied("a\r\nb\r\n", unified("a\nb\n", "a\nc\n")), "a\nc\n");
});

test("a file of hundreds of thousands of lines is no harder than another", () => {
  const lines = Array.from({ length: 300_000 }, (_, number) => `${number}\n`);
  const patch = "@@ -299999,2 +299999,2 @@\n 299998\n-299999\n+the last\n";
  assert.equal(applied(lines.join(""), patch), [...lines.slice(0, -1), "the last\n"].join(""));
});
