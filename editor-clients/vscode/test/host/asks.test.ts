import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import type { Permission, Question, QuestionItem } from "../../src/protocol";
import { Asks, type AskDeps } from "../../src/host/asks";
import { RequestError } from "../../src/host/failure";
import { Memory } from "../../src/host/memory";
import { AskQueue, idOf } from "../../src/host/queue";
import type { Notification } from "../../src/host/server";
import { editor, type Box } from "./vscode";

const OF = { sessionId: "ses_a", rootSessionId: "ses_a", agent: "build", turnId: "trn_1", messageId: "msg_1" };

function permission(id: string, createdAt: number, more: Partial<Permission> = {}): Permission {
  return { ...OF, permissionId: id, permission: "bash", title: id, patterns: [], metadata: {}, options: [], createdAt, ...more };
}

function question(id: string, createdAt: number, ...questions: QuestionItem[]): Question {
  return { ...OF, questionId: id, questions, createdAt };
}

/** A question that is answered in own words only. */
function open(header: string): QuestionItem {
  return { header, question: `${header}?`, options: [] };
}

const silent = (): void => undefined;

/** A window with a server that answers when told: `answers` waits for what it shall say. */
class Desk {
  readonly back: string[] = [];
  readonly requests: { method: string; params: unknown; answer: (result: unknown) => void; fail: (kind: string) => void }[] = [];
  readonly asks: Asks;
  readonly memory: Memory;
  belongs = Promise.resolve(true);

  constructor(folder = mkdtempSync(join(tmpdir(), "asks-"))) {
    this.memory = new Memory(folder, silent);
    const request = (method: string, params: unknown): Promise<unknown> =>
      new Promise((answer, reject) => {
        this.requests.push({ method, params, answer, fail: (kind) => { reject(new RequestError("no", kind)); } });
      });
    this.asks = new Asks({
      server: { request } as unknown as AskDeps["server"],
      sessions: { belongs: () => this.belongs } as unknown as AskDeps["sessions"],
      diffs: { close: () => Promise.resolve(), showAsked: () => Promise.resolve() } as unknown as AskDeps["diffs"],
      memory: this.memory,
      current: () => undefined,
      dialogs: () => false,
      showInChat: silent,
      giveBack: (words) => this.back.push(words),
    });
  }

  tell(method: string, params: unknown): Promise<void> {
    return this.asks.notified({ method, params } as Notification);
  }

  get open(): string[] {
    return this.asks.queue.list().map(idOf);
  }

  /** The newest request of a method, once there is one. */
  async asked(method: string): Promise<Desk["requests"][number]> {
    for (;;) {
      const found = this.requests.findLast((one) => one.method === method);
      if (found) return found;
      await new Promise(setImmediate);
    }
  }
}

/** Leaves a box as by Escape, and waits until the dialog is over. */
async function leave(box: Box, dialog: Promise<void>): Promise<void> {
  box.hide();
  await dialog;
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

test("what is settled while one finds out whose it is does not come back", async () => {
  const desk = new Desk();
  let say: (ours: boolean) => void = silent;
  desk.belongs = new Promise((resolve) => { say = resolve; });
  const told = desk.tell("permission/asked", permission("per_1", 1));
  await desk.tell("permission/resolved", { permissionId: "per_1" });
  say(true);
  await told;
  assert.deepEqual(desk.open, []);
});

test("what is asked and settled while the server's list is on its way counts after it", async () => {
  const desk = new Desk();
  await desk.tell("permission/asked", permission("per_old", 1));
  const refreshed = desk.asks.refresh();
  await desk.tell("question/asked", question("que_new", 3));
  await desk.tell("permission/resolved", { permissionId: "per_2" });
  (await desk.asked("permission/list")).answer({ permissions: [permission("per_2", 2)] });
  (await desk.asked("question/list")).answer({ questions: [question("que_4", 4)] });
  await refreshed;
  assert.deepEqual(desk.open, ["que_new", "que_4"]);
});

test("words of every item stay when one leaves at a later one, each with its own, also over a reload", async () => {
  const folder = mkdtempSync(join(tmpdir(), "asks-"));
  const desk = new Desk(folder);
  const ask = question("que_1", 1, open("First"), open("Second"));
  await desk.tell("question/asked", ask);
  const dialog = desk.asks.answer("que_1");
  const first = await editor.box();
  first.type("one");
  first.accept();
  const second = await editor.box(first);
  second.type("half of two");
  await leave(second, dialog);
  await desk.memory.settled();
  const next = new Desk(folder);
  await next.tell("question/asked", ask);
  const again = next.asks.answer("que_1");
  const box = await editor.box(second);
  assert.equal(box.value, "one");
  box.accept();
  const other = await editor.box(box);
  assert.equal(other.value, "half of two");
  await leave(other, again);
  assert.deepEqual(next.back, []);
});

test("words of all items come back when the question is settled at the second", async () => {
  const desk = new Desk();
  await desk.tell("question/asked", question("que_1", 1, open("First"), open("Second")));
  const dialog = desk.asks.answer("que_1");
  const first = await editor.box();
  first.type("one");
  first.accept();
  (await editor.box(first)).type("half of two");
  await desk.tell("question/resolved", { questionId: "que_1" });
  await dialog;
  assert.deepEqual(desk.back, ["one\nhalf of two"]);
  assert.equal(desk.memory.get<unknown>("words", undefined), undefined);
});

test("a second dialog of an open question has the words of the first", async () => {
  const desk = new Desk();
  await desk.tell("question/asked", question("que_1", 1, open("Only")));
  const first = desk.asks.answer("que_1");
  const box = await editor.box();
  box.type("half of it");
  const second = desk.asks.answer("que_1");
  const other = await editor.box(box);
  await first;
  assert.equal(other.value, "half of it");
  await leave(other, second);
  assert.deepEqual(desk.back, []);
});

for (const [status, back] of [["accepted", []], ["superseded", ["use make"]]] as const)
  test(`words of an answer that is ${status} ${back.length === 0 ? "are not needed any more" : "come back"}, also when its notification is first`, async () => {
    const desk = new Desk();
    await desk.tell("permission/asked", permission("per_1", 1));
    const dialog = desk.asks.answer("per_1", "reject");
    const box = await editor.box();
    box.type("use make");
    box.accept();
    const { params, answer } = await desk.asked("permission/reply");
    assert.deepEqual(params, { permissionId: "per_1", reply: "reject", message: "use make" });
    await desk.tell("permission/resolved", { permissionId: "per_1" });
    assert.deepEqual(desk.back, []);
    answer({ status, resolution: { outcome: "allowed once" } });
    await dialog;
    assert.deepEqual(desk.back, back);
    assert.equal(desk.memory.get<unknown>("words", undefined), undefined);
  });

test("words of an answer that did not arrive are in the dialog again", async () => {
  const desk = new Desk();
  await desk.tell("permission/asked", permission("per_1", 1));
  const dialog = desk.asks.answer("per_1", "reject");
  const box = await editor.box();
  box.type("use make");
  box.accept();
  (await desk.asked("permission/reply")).fail("gone");
  await dialog;
  assert.match(editor.said.at(-1) ?? "", /Your answer did not arrive: no Your words are in its dialog when you answer again\./);
  const again = desk.asks.answer("per_1", "reject");
  const other = await editor.box(box);
  assert.equal(other.value, "use make");
  await leave(other, again);
});
