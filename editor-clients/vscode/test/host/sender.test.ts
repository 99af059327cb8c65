/** What the user sent is at every moment with the user, kept, or with the server. */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { Chat } from "../../src/host/chat";
import { RequestError } from "../../src/host/failure";
import { Memory } from "../../src/host/memory";
import { Sender, type SenderDeps } from "../../src/host/sender";
import type { Draft, StateMessage, ToWebview } from "../../src/shared/messages";
import { editor, workspace } from "./vscode";

const silent = (): void => undefined;

interface Request {
  method: string;
  params: { sessionId?: string; messageId?: string; parts?: { type: string; text?: string; uri?: string }[] };
}

/** A window with a server that answers as told: `ok`, or a kind of error; the last answer goes on. */
class Desk {
  readonly requests: Request[] = [];
  readonly posted: ToWebview[] = [];
  answer = "ok";
  chat: Chat | undefined;
  readonly memory: Memory;
  readonly sender: Sender;

  constructor(readonly folder = mkdtempSync(join(tmpdir(), "sender-"))) {
    this.memory = new Memory(folder, silent);
    this.sender = new Sender({
      ...this.#around,
      memory: this.memory,
      chat: () => this.chat,
      trust: () => Promise.resolve(false),
      changed: silent,
    });
  }

  get #around(): Pick<SenderDeps, "server" | "sessions" | "editor"> {
    const request = async (method: string, params: Request["params"]): Promise<unknown> => {
      await new Promise(setImmediate); // the server takes its time
      if (this.answer !== "ok") throw new RequestError("no", this.answer);
      this.requests.push({ method, params });
      return method === "session/create" ? { session: { id: "ses_new", directory: "/ws" } } : {};
    };
    return { server: { up: false, request }, sessions: { get: silent, put: silent }, editor: {} } as unknown as Pick<SenderDeps, "server" | "sessions" | "editor">;
  }

  /** The chat in the side bar, with its page. */
  open(): Chat {
    const webview = { postMessage: (messages: ToWebview[]) => this.posted.push(...messages) } as unknown as ConstructorParameters<typeof Chat>[1];
    const server = { up: false } as unknown as SenderDeps["server"];
    this.chat = new Chat("view", webview, { server, memory: this.memory, state: () => ({ type: "state" }) as StateMessage, moved: silent });
    this.chat.ready();
    return this.chat;
  }

  get sent(): string[] {
    return this.requests.filter(({ method }) => method === "session/prompt").map(({ params }) => `${params.parts?.[0]?.text ?? ""} to ${params.sessionId ?? ""}`);
  }

  get draft(): Draft | undefined {
    return this.memory.get<Draft | undefined>("draft.view", undefined);
  }
}

/** Until nothing is on its way. */
async function quiet(): Promise<void> {
  for (let turns = 0; turns < 30; turns += 1) await new Promise(setImmediate);
}

const words = (text: string): Draft => ({ text, chips: [] });

test("with no chat open, what the server refuses is in the chat's draft, before what was typed, also for the next window", async () => {
  const desk = new Desk();
  desk.answer = "gone";
  await desk.sender.prompt(desk.open(), words("sent"), "steer");
  await quiet();
  const next = new Desk(desk.folder);
  next.memory.set("draft.view", words("typed"));
  next.answer = "unavailable";
  next.sender.outbox.pumpAll();
  await quiet();
  assert.deepEqual(next.draft, words("sent\ntyped"));
  assert.match(editor.said.at(-1) ?? "", /Not sent: agentls does not run\. Your words are in the chat\./);
  await next.memory.settled();
  assert.deepEqual(new Desk(desk.folder).draft, words("sent\ntyped"));
  assert.deepEqual(new Desk(desk.folder).sender.outbox.of("view"), []);
});

test("what is given back to a page is kept too: one that is just replaced hears nothing", async () => {
  const desk = new Desk();
  desk.answer = "session_busy";
  await desk.sender.prompt(desk.open(), words("sent"), "steer");
  await quiet();
  assert.deepEqual(desk.draft, words("sent"));
});

test("a prompt goes to the session that it was sent in, and before those that were sent after it, however long its files are looked for", async () => {
  const desk = new Desk();
  const chat = desk.open();
  const found: (() => void)[] = [];
  editor.read = () => new Promise((resolve) => found.push(() => { resolve(new Uint8Array()); }));
  chat.show("ses_a");
  void desk.sender.prompt(chat, words("see @a.py"), "steer");
  void desk.sender.prompt(chat, words("and quickly"), "steer");
  assert.deepEqual(desk.sender.outbox.of("view").map(({ text }) => text), ["see @a.py", "and quickly"], "kept before anything is looked up");
  chat.show("ses_b");
  void desk.sender.prompt(chat, words("elsewhere"), "steer");
  await quiet();
  assert.deepEqual(desk.sent, []);
  for (const one of found) one();
  await quiet();
  assert.deepEqual(desk.sent, ["see @a.py to ses_a", "and quickly to ses_a", "elsewhere to ses_b"]);
  assert.deepEqual(desk.requests[0]?.params.parts?.map(({ uri }) => uri), [undefined, "file:///ws/a.py"]);
});

test("a window that ends while files are looked for leaves the words to the next one", async () => {
  const desk = new Desk();
  editor.read = () => new Promise(() => undefined);
  await desk.sender.prompt(desk.open(), words("see @a.py"), "steer");
  const next = new Desk(desk.folder);
  next.sender.outbox.pumpAll();
  await quiet();
  assert.deepEqual(next.sent, ["see @a.py to ses_new"]);
});

test("what a page sent leaves the draft, also after a reload; a command line leaves the chips", async () => {
  const desk = new Desk();
  const chat = desk.open();
  const chip: Draft["chips"][number] = { label: "a.py", title: "a.py", part: { type: "file", uri: "file:///ws/a.py" } };
  chat.draft = words("G");
  await desk.sender.take(chat, { type: "prompt", messageId: "msg_1", draft: words("Go"), delivery: "steer" });
  assert.equal(new Desk(desk.folder).draft, undefined);
  chat.draft = { text: "! ls  -la", chips: [chip] };
  await desk.sender.take(chat, { type: "shell", messageId: "msg_2", command: "ls  -la" });
  assert.deepEqual(new Desk(desk.folder).draft, { text: "", chips: [chip] });
  chat.draft = words("/review all");
  await desk.sender.take(chat, { type: "command", messageId: "msg_3", command: "review", arguments: "all of it", chips: [] });
  assert.equal(new Desk(desk.folder).draft, undefined);
});

test("a prompt from elsewhere leaves the draft alone", async () => {
  const desk = new Desk();
  const chat = desk.open();
  chat.draft = words("typed");
  await desk.sender.prompt(chat, words("Fix these problems."), "steer");
  assert.deepEqual(desk.draft, words("typed"));
});

test("a page hears that its words are kept when they are on the disk; said again they count once", async () => {
  const desk = new Desk();
  const chat = desk.open();
  const sent = { type: "prompt", messageId: "msg_1", draft: words("Go"), delivery: "steer" } as const;
  desk.answer = "gone";
  await desk.sender.take(chat, sent);
  assert.deepEqual(new Desk(desk.folder).sender.outbox.of("view").map(({ text }) => text), ["Go"]);
  chat.draft = words("typed since");
  await desk.sender.take(chat, sent);
  assert.deepEqual(desk.draft, words("typed since"));
  assert.deepEqual(desk.sender.outbox.of("view").map(({ messageId }) => messageId), ["msg_1"]);
  const taken = () => desk.posted.filter(({ type }) => type === "taken").length;
  while (taken() < 2) await new Promise(setImmediate);
});

test("words that no folder is open for come back once", async () => {
  const desk = new Desk();
  const chat = desk.open();
  const folders = workspace.workspaceFolders.splice(0);
  chat.draft = words("Go");
  await desk.sender.take(chat, { type: "prompt", messageId: "msg_1", draft: words("Go"), delivery: "steer" });
  workspace.workspaceFolders.push(...folders);
  assert.deepEqual(desk.draft, words("Go"));
});
