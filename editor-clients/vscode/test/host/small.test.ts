import assert from "node:assert/strict";
import test from "node:test";
import { Backoff } from "../../src/host/backoff";
import { messageId } from "../../src/shared/ids";
import { beforeLinks, fitsOneLine, iconless, oneLine } from "../../src/host/plain";

test("the waits grow, and then nothing is tried any more", () => {
  const backoff = new Backoff([1, 2], 100);
  assert.deepEqual([backoff.crashed(10), backoff.crashed(10), backoff.crashed(10)], [1, 2, undefined]);
});

test("a server that ran for long, and the user's wish, begin anew", () => {
  const backoff = new Backoff([1, 2], 100);
  backoff.crashed(10);
  backoff.crashed(10);
  assert.equal(backoff.crashed(101), 1);
  backoff.reset();
  assert.equal(backoff.crashed(10), 1);
});

test("ids have the form of the protocol's, sort by time, and differ", () => {
  assert.match(messageId(), /^msg_[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.ok(messageId(1_000) < messageId(2_000));
  assert.equal(new Set(Array.from({ length: 1000 }, () => messageId(5))).size, 1000);
});

test("what the agent says makes no links and no icons, and hides nothing", () => {
  assert.equal(beforeLinks("[run](command:x)", "bash"), "[run] (command:x) [bash]");
  assert.equal(iconless("$(check) ok"), "$ (check) ok");
  assert.equal(oneLine("a\u202eb"), "a<U+202E>b");
});

for (const words of ["touch x", "x [Reject…", "a [[ b", "[done] and [", "[a](command:b)", "x ["]) {
  test(`a notification's own links are all that it has: ${words}`, () => {
    const link = /\[([^\]]+)\]\(([^)\s]+)\)/g; // as the editor reads them
    const text = `${beforeLinks(words, "bash")}  [Allow once](command:once) · [Reject…](command:reject)`;
    const found = [...text.matchAll(link)].map(([, label, command]) => [label, command]);
    assert.deepEqual(found, [["Allow once", "command:once"], ["Reject…", "command:reject"]]);
  });
}

test("one line is cut visibly, and it is known that it was", () => {
  assert.equal(oneLine("ab\n  cd"), "ab cd");
  assert.equal(oneLine("abcdef", 4), "abc…");
  assert.equal(fitsOneLine("abcd", 4), true);
  assert.equal(fitsOneLine("abcde", 4), false);
  assert.equal(fitsOneLine("ab\ncd"), false);
});
