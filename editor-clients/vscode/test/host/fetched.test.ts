import assert from "node:assert/strict";
import test from "node:test";
import { Fetched } from "../../src/host/fetched";

/** Readings that end when and as the test says. */
function readings() {
  const open: { resolve(value: string): void; reject(error: Error): void }[] = [];
  const fetched = new Fetched<string>(() => new Promise((resolve, reject) => open.push({ resolve, reject })));
  return { fetched, open };
}

test("what was on its way when all was forgotten is read anew, and does not stand over what is newer", async () => {
  const { fetched, open } = readings();
  const early = fetched.fetch("a");
  fetched.forget();
  const late = fetched.fetch("a");
  open[1]?.resolve("new");
  assert.equal(await late, "new");
  open[0]?.resolve("old");
  await new Promise(setImmediate);
  assert.equal(fetched.last("a"), "new");
  open[2]?.resolve("newest");
  assert.equal(await early, "newest");
  assert.equal(fetched.last("a"), "newest");
});

test("a failure is told, and what was known stays", async () => {
  const { fetched, open } = readings();
  const first = fetched.fetch("a");
  open[0]?.resolve("known");
  await first;
  fetched.forget();
  assert.equal(fetched.isAsked("a"), false);
  const second = fetched.fetch("a");
  assert.equal(fetched.isAsked("a"), true);
  open[1]?.reject(new Error("no"));
  await assert.rejects(second, /no/);
  assert.equal(fetched.isAsked("a"), false);
  assert.equal(fetched.last("a"), "known");
});
