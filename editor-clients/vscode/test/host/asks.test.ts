import assert from "node:assert/strict";
import test from "node:test";
import type { Permission, Question } from "../../src/protocol";
import { AskQueue, idOf } from "../../src/host/queue";

const OF = { sessionId: "ses_a", rootSessionId: "ses_a", agent: "build", turnId: "trn_1", messageId: "msg_1" };

function permission(id: string, createdAt: number, more: Partial<Permission> = {}): Permission {
  return { ...OF, permissionId: id, permission: "bash", title: id, patterns: [], metadata: {}, options: [], createdAt, ...more };
}

function question(id: string, createdAt: number): Question {
  return { ...OF, questionId: id, questions: [], createdAt };
}

test("the oldest comes first, whatever its kind", () => {
  const queue = new AskQueue();
  for (const ask of [permission("per_2", 2), question("que_1", 1), permission("per_3", 3)]) queue.put(ask);
  assert.deepEqual(queue.list().map(idOf), ["que_1", "per_2", "per_3"]);
  assert.deepEqual(queue.place("per_2"), { index: 2, count: 3 });
});

test("what was put off is not shown by itself, and stays open", () => {
  const queue = new AskQueue();
  queue.put(permission("per_1", 1));
  queue.putOff("per_1");
  assert.equal(queue.next(), undefined);
  queue.put(permission("per_1", 1));
  assert.equal(queue.next(), undefined, "also when it is told of again");
  assert.ok(queue.get("per_1"));
});

test("the server's list replaces ours and tells what was settled meanwhile", () => {
  const queue = new AskQueue();
  queue.put(permission("per_1", 1));
  queue.put(permission("per_2", 2));
  assert.deepEqual(queue.replace([permission("per_2", 2), permission("per_3", 3)]), ["per_1"]);
  assert.deepEqual(queue.list().map(idOf), ["per_2", "per_3"]);
});

test("it is settled once", () => {
  const queue = new AskQueue();
  queue.put(permission("per_1", 1));
  assert.deepEqual([queue.settle("per_1"), queue.settle("per_1")], [true, false]);
});

test("a subtask's questions count for its root", () => {
  const queue = new AskQueue();
  queue.put(permission("per_1", 1, { sessionId: "ses_child" }));
  queue.put(permission("per_2", 2, { sessionId: "ses_b", rootSessionId: "ses_b" }));
  assert.deepEqual(queue.of("ses_a").map(idOf), ["per_1"]);
});
