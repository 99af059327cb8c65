import assert from "node:assert/strict";
import test from "node:test";
import type { PartDelta, ToolPart } from "../../src/protocol";
import { SessionCopy, textOf, type Part, type StoreChange } from "../../src/shared/store";
import { agent, attach, commandAsk, question, SESSION, state, USAGE, user } from "./fixtures";

function copyOf(...messages: Parameters<typeof attach>[0]): { copy: SessionCopy; changes: StoreChange[]; fetched: string[] } {
  const changes: StoreChange[] = [];
  const fetched: string[] = [];
  const copy = new SessionCopy(SESSION, (change) => changes.push(change), (partId) => fetched.push(partId));
  const { attach: result } = attach(messages);
  assert.ok(result);
  copy.attached(structuredClone(result));
  return { copy, changes, fetched };
}

const growing = (): ReturnType<typeof agent> => agent({ type: "text", id: "prt_g", text: "", time: { start: 1 } });

function delta(base: number, rev: number, text: string, messageId: string): PartDelta {
  return { sessionId: SESSION, messageId, partId: "prt_g", field: "text", base, rev, delta: text };
}

function shown(copy: SessionCopy): string {
  const part = copy.parts.get("prt_g");
  return part ? textOf(part, "text") : "";
}

test("a delta on my own revision is appended, an old one is dropped", () => {
  const message = growing();
  const { copy, fetched } = copyOf(message);
  const { id } = message.message;
  copy.notified("part/delta", delta(1, 2, "Hello", id));
  copy.notified("part/delta", delta(1, 2, "Hello", id));
  copy.notified("part/delta", delta(2, 3, " world", id));
  copy.notified("part/delta", delta(1, 2, "Hello", id));
  assert.equal(shown(copy), "Hello world");
  assert.deepEqual(fetched, []);
});

test("a gap fetches the part once, and its deltas are ignored until the answer", () => {
  const message = growing();
  const { copy, fetched } = copyOf(message);
  const { id } = message.message;
  copy.notified("part/delta", delta(5, 6, "c", id));
  copy.notified("part/delta", delta(6, 7, "d", id));
  assert.deepEqual(fetched, ["prt_g"]);
  assert.equal(shown(copy), "");
  copy.fetched({ ...structuredClone(message.parts[0] as Part), text: "abcd", rev: 7 } as Part);
  copy.notified("part/delta", delta(7, 8, "e", id));
  assert.equal(shown(copy), "abcde");
});

test("a fetch that failed can be made again", () => {
  const message = growing();
  const { copy, fetched } = copyOf(message);
  copy.notified("part/delta", delta(5, 6, "c", message.message.id));
  copy.fetchFailed("prt_g");
  copy.notified("part/delta", delta(6, 7, "d", message.message.id));
  assert.deepEqual(fetched, ["prt_g", "prt_g"]);
});

test("a part that is sent whole replaces mine, also with a lower revision, and ends the waiting", () => {
  const message = growing();
  const { copy } = copyOf(message);
  const { id } = message.message;
  copy.notified("part/delta", delta(1, 2, "stale", id));
  copy.notified("part/delta", delta(9, 10, "gap", id));
  copy.notified("part/updated", { sessionId: SESSION, part: { ...structuredClone(message.parts[0] as Part), text: "fresh", rev: 1 } as Part });
  copy.notified("part/delta", delta(1, 2, "er", id));
  assert.equal(shown(copy), "fresher");
});

test("a tool's output grows in its state", () => {
  const message = agent({ type: "tool", id: "prt_t", callId: "c", tool: "bash", state: { status: "running", input: {}, time: { start: 0 } } });
  const { copy } = copyOf(message);
  copy.notified("part/delta", { ...delta(1, 2, "out", message.message.id), partId: "prt_t", field: "output" });
  assert.equal(((copy.parts.get("prt_t") as ToolPart).state as { output?: string }).output, "out");
});

test("a removed message takes its parts with it", () => {
  const message = agent("one", "two");
  const { copy } = copyOf(user("hello"), message);
  copy.notified("message/removed", { sessionId: SESSION, seq: 2, messageId: message.message.id });
  assert.equal(copy.messages.size, 1);
  assert.equal(copy.parts.size, 1);
});

test("changes are applied in their order, and the position is taken over", () => {
  const first = user("hello");
  const { copy } = copyOf(first);
  const answer = agent("hi");
  const position = { epoch: "e", seq: 9 };
  copy.attached({
    position, status: { type: "busy" }, truncated: false, pending: { permissions: [], questions: [] },
    changes: [
      { seq: 2, kind: "message", value: answer.message },
      { seq: 3, kind: "part", value: answer.parts[0] },
      { seq: 4, kind: "message", removed: first.message.id },
      { seq: 5, kind: "todo", value: [{ content: "x", status: "pending", priority: "low" }] },
      { seq: 6, kind: "queue", value: { messageId: "msg_q", text: "q", parts: [], createdAt: 1 } },
    ],
  });
  assert.deepEqual(copy.messagesInOrder().map(({ id }) => id), [answer.message.id]);
  assert.deepEqual(copy.partsOf(answer.message.id).length, 1);
  assert.equal(copy.parts.size, 1);
  assert.equal(copy.todos.length, 1);
  assert.equal(copy.queue.length, 1);
  assert.deepEqual(copy.position, position);
  assert.ok(copy.busy);
});

test("the position rises with what is notified, and never falls", () => {
  const { copy } = copyOf();
  copy.notified("todo/updated", { sessionId: SESSION, seq: 8, todos: [] });
  copy.notified("todo/updated", { sessionId: SESSION, seq: 5, todos: [] });
  assert.equal(copy.position?.seq, 8);
});

test("of a child's notifications only questions count for its root", () => {
  const { copy } = copyOf();
  const ask = { ...commandAsk("ls"), sessionId: "ses_child" };
  copy.notified("permission/asked", { ...ask, seq: 50 });
  copy.notified("session/status", { sessionId: "ses_child", rootSessionId: SESSION, status: { type: "busy" } });
  assert.equal(copy.pending.size, 1);
  assert.equal(copy.status.type, "idle");
  assert.equal(copy.position?.seq, 1);
  copy.notified("permission/resolved", { sessionId: "ses_child", rootSessionId: SESSION, permissionId: ask.permissionId, outcome: "allowed", by: "client", seq: 51 });
  assert.equal(copy.pending.size, 0);
});

test("what waits comes the oldest first", () => {
  const { copy } = copyOf();
  const [first, second] = [question(), commandAsk("ls")];
  copy.notified("permission/asked", { ...second, seq: 3 });
  copy.notified("question/asked", { ...first, seq: 2 });
  assert.deepEqual(copy.pendingInOrder(), [{ ...first, seq: 2 }, { ...second, seq: 3 }]);
});

test("a turn's end leaves nothing of the turn before", () => {
  const { copy } = copyOf();
  copy.notified("turn/ended", { sessionId: SESSION, seq: 2, turnId: "trn_a", stopReason: "error", error: { name: "APIError", data: { message: "no" } }, usage: USAGE });
  copy.notified("turn/ended", { sessionId: SESSION, seq: 3, turnId: "trn_b", stopReason: "done", usage: USAGE });
  assert.equal(copy.turn?.error, undefined);
});

test("an older page comes before what is here", () => {
  const older = user("first");
  const { copy } = copyOf(user("second"));
  copy.paged({ messages: [{ ...older, message: { ...older.message, pos: -1 } }] });
  assert.equal(copy.messagesInOrder()[0]?.id, older.message.id);
  assert.equal(copy.nextCursor, undefined);
  assert.equal(state().type, "state");
});

/** A server that grows parts, and a line that loses, doubles and holds back deltas; whole parts always get through. */
test("whatever the line does to deltas, the copy ends like the server's", () => {
  let seed = 42;
  const random = (): number => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (let round = 0; round < 300; round++) {
    const message = growing();
    const { id } = message.message;
    const truth = structuredClone(message.parts[0] as Part) as Part & { text: string };
    const { copy, fetched } = copyOf(message);
    const sent: PartDelta[] = [];
    for (let step = 0; step < 40; step++) {
      const text = String.fromCharCode(97 + (step % 26));
      sent.push(delta(truth.rev, truth.rev + 1, text, id));
      truth.text += text;
      truth.rev++;
      const fate = random();
      const last = sent.at(-1) as PartDelta;
      if (fate < 0.7) copy.notified("part/delta", last);
      if (fate < 0.1) copy.notified("part/delta", last);
      if (fate > 0.9) copy.notified("part/delta", sent[Math.floor(random() * sent.length)] as PartDelta);
      if (fetched.length > 0 && random() < 0.4) {
        fetched.length = 0;
        copy.fetched(structuredClone(truth));
      }
      // Never more, never in another order than the server has it.
      assert.ok(truth.text.startsWith(shown(copy)));
    }
    copy.notified("part/delta", delta(truth.rev, truth.rev + 1, "!", id));
    truth.text += "!";
    truth.rev++;
    if (fetched.length > 0) copy.fetched(structuredClone(truth));
    assert.equal(shown(copy), truth.text);
  }
});
