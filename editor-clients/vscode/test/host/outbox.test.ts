import assert from "node:assert/strict";
import test from "node:test";
import { RequestError } from "../../src/host/failure";
import { Outbox, type Entry } from "../../src/host/outbox";

function entry(messageId: string, more: Partial<Entry> = {}): Entry {
  const post = { method: "session/prompt" as const, params: { parts: [] } };
  return { messageId, kind: "prompt", text: `words of ${messageId}`, chips: [], chat: "view", directory: "/ws", chosen: {}, post, ...more };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Until nothing is on its way. */
async function quiet(): Promise<void> {
  for (let turns = 0; turns < 10; turns += 1) await settled();
}

/** An outbox with a server that answers as told: an id, or a kind of error; `log` is what it was sent. */
function outbox(kept: Entry[] = []) {
  const state = { kept, log: [] as string[], back: [] as string[], keptThen: [] as string[], answers: [] as string[] };
  const box = new Outbox(
    { read: () => state.kept, write: (entries) => { state.kept = [...entries]; } },
    {
      send: async (sent, created) => {
        await settled(); // the server takes its time
        state.log.push(`${sent.messageId} to ${sent.sessionId ?? "a new session"}`);
        const answer = state.answers.shift() ?? "ok";
        if (answer.startsWith("ses_")) created(answer);
        else if (answer !== "ok") throw new RequestError("no", answer);
      },
      giveBack: (_, draft, error) => {
        state.back.push(`${draft.text}: ${error.kind}`);
        state.keptThen = state.kept.map(({ messageId }) => messageId);
      },
      changed: () => undefined,
    },
  );
  return { box, state };
}

test("entries go one after another, and those after the first join its new session", async () => {
  const { box, state } = outbox();
  state.answers = ["ses_new"];
  box.add(entry("msg_1"));
  box.add(entry("msg_2"));
  await quiet();
  assert.deepEqual(state.log, ["msg_1 to a new session", "msg_2 to ses_new"]);
  assert.deepEqual(state.kept, []);
});

test("what a dying server may have taken is sent again with the same id, and kept until then", async () => {
  const { box, state } = outbox();
  state.answers = ["gone"];
  box.add(entry("msg_1"));
  box.add(entry("msg_2"));
  await quiet();
  assert.deepEqual(state.kept.map(({ messageId }) => messageId), ["msg_1", "msg_2"]);
  box.pumpAll();
  await quiet();
  assert.deepEqual(state.log, ["msg_1 to a new session", "msg_1 to a new session", "msg_2 to a new session"]);
  assert.deepEqual(state.back, []);
});

test("what is refused goes back to the user, and the next one is sent", async () => {
  const { box, state } = outbox();
  state.answers = ["session_busy"];
  box.add(entry("msg_1"));
  box.add(entry("msg_2"));
  await quiet();
  assert.deepEqual(state.back, ["words of msg_1: session_busy"]);
  assert.equal(state.log.length, 2);
});

test("what an earlier window left is sent by the next one", async () => {
  const { box, state } = outbox([entry("msg_1", { sessionId: "ses_a" })]);
  box.pumpAll();
  await quiet();
  assert.deepEqual(state.log, ["msg_1 to ses_a"]);
});

test("where the server will not come back all goes back to the user", async () => {
  const { box, state } = outbox();
  state.answers = ["gone"];
  box.add(entry("msg_1"));
  box.add(entry("msg_2"));
  await quiet();
  box.giveUp(new RequestError("dead", "unavailable"));
  assert.deepEqual(state.back, ["words of msg_2: unavailable", "words of msg_1: unavailable"], "the last one first: each goes before what is there");
  assert.deepEqual(box.of("view"), []);
});

test("a server that cannot be had is asked for once, not once an entry", async () => {
  const { box, state } = outbox();
  state.answers = ["unavailable"];
  box.add(entry("msg_1"));
  box.add(entry("msg_2"));
  box.add(entry("msg_3"));
  await quiet();
  assert.deepEqual(state.log, ["msg_1 to a new session"]);
  assert.deepEqual(state.back, ["words of msg_3: unavailable", "words of msg_2: unavailable", "words of msg_1: unavailable"]);
  assert.deepEqual(state.kept, []);
});

test("what is refused is with the user before it is forgotten", async () => {
  const { box, state } = outbox();
  state.answers = ["session_busy"];
  box.add(entry("msg_1"));
  await quiet();
  assert.deepEqual(state.keptThen, ["msg_1"]);
});
