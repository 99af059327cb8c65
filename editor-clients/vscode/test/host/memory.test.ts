/** What outlives the window. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { Memory } from "../../src/host/memory";

const silent = (): void => undefined;
const folder = (): string => join(mkdtempSync(join(tmpdir(), "memory-")), "kept");

test("what was set is there for the next window, the last value of many", async () => {
  const place = folder();
  const memory = new Memory(place, silent);
  for (let key = 0; key <= 500; key++) memory.set("draft.main", { text: "x".repeat(key) });
  memory.set("shown/main", "ses_1");
  assert.deepEqual(memory.get("draft.main", null), { text: "x".repeat(500) });
  await memory.settled();
  const next = new Memory(place, silent);
  assert.deepEqual(next.get("draft.main", null), { text: "x".repeat(500) });
  assert.equal(next.get("shown/main", ""), "ses_1");
  assert.equal(statSync(join(place, readdirSync(place)[0] ?? "")).mode & 0o077, 0);
});

test("what is forgotten is gone, and half a file is none", async () => {
  const place = folder();
  const memory = new Memory(place, silent);
  memory.set("draft.main", "typed");
  memory.set("draft.main", undefined);
  await memory.settled();
  assert.deepEqual(readdirSync(place), []);
  writeFileSync(join(place, "unsent.json"), '[{"tex');
  assert.deepEqual(new Memory(place, silent).get("unsent", []), []);
});

test("a folder that cannot be written is said, and the window works on", async () => {
  const place = folder();
  const told: string[] = [];
  writeFileSync(place, "");
  const memory = new Memory(place, (reason) => told.push(reason));
  memory.set("draft.main", "typed");
  await memory.settled();
  assert.equal(memory.get("draft.main", ""), "typed");
  assert.ok(told.length >= 2);
});

test("a value that is set while a write fails is written", async () => {
  const place = folder();
  const memory: Memory = new Memory(place, () => {
    mkdirSync(place);
    memory.set("draft.main", "typed since");
  });
  rmSync(place, { recursive: true });
  memory.set("draft.main", "typed");
  await memory.settled();
  assert.equal(new Memory(place, silent).get("draft.main", ""), "typed since");
});

test("what moves from one key to another is at no moment under neither", async () => {
  const place = folder();
  const memory = new Memory(place, silent);
  memory.set("draft.main", "words");
  await memory.settled();
  memory.set("unsent", ["words ".repeat(100_000)]); // takes its time
  memory.set("draft.main", undefined);
  memory.set("unsent", []);
  memory.set("shown.main", "ses_1");
  let [looks, done] = [0, false];
  const all = memory.settled().then(() => { done = true; });
  while (!done) {
    const next = new Memory(place, silent);
    const somewhere = next.get<string>("draft.main", "") !== "" || next.get<string[]>("unsent", ["none yet"]).join() !== "none yet";
    assert.ok(somewhere, `after ${looks} looks`);
    looks += 1;
    await new Promise(setImmediate);
  }
  await all;
  assert.deepEqual(new Memory(place, silent).get("unsent", [""]), []);
});
