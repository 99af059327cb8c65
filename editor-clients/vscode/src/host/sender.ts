/** Sends what the user wrote: gives it a session if it has none, and the parts that its words name. */
import * as vscode from "vscode";
import type { PromptParams } from "../protocol";
import type { Draft } from "../shared/messages";
import { putBack, SIDE_BAR, type Chat } from "./chat";
import type { Editor } from "./editor";
import { RequestError } from "./failure";
import { folderFor, folderOf } from "./folders";
import { messageId } from "./ids";
import type { Memory } from "./memory";
import { bareParts, partsOf } from "./mentions";
import { Outbox, type Entry, type Posted } from "./outbox";
import type { Server } from "./server";
import type { Sessions } from "./sessions";

export interface SenderDeps {
  server: Server;
  sessions: Sessions;
  editor: Editor;
  memory: Memory;
  /** The chat that an entry was sent in, or the one that stands for it now. */
  chat(key: string): Chat | undefined;
  trust(directory: string): Promise<boolean>;
  /** What is not sent yet is another. */
  changed: () => void;
}

const UNSENT = "unsent";

export class Sender {
  readonly outbox: Outbox;

  constructor(private readonly deps: SenderDeps) {
    const { memory } = deps;
    this.outbox = new Outbox(
      { read: () => memory.get<Entry[]>(UNSENT, []), write: (entries) => { memory.set(UNSENT, entries); } },
      {
        send: (entry, created) => this.#send(entry, created),
        giveBack: (entry, draft, error) => {
          this.#giveBack(entry, draft, error);
        },
        changed: deps.changed,
      },
    );
  }

  /** Where a chat's session works, or where its next one will. */
  directory(chat: Chat): string | undefined {
    const own = chat.sessionId === undefined ? undefined : this.deps.sessions.get(chat.sessionId)?.directory;
    return own ?? folderOf(this.deps.editor.current?.document.uri)?.path;
  }

  /** Ends when the words are kept. What they name with `@` is looked up while they wait in their place. */
  prompt(chat: Chat, draft: Draft, delivery: "steer" | "queue"): Promise<void> {
    const { text, chips } = draft;
    if (text.trim() === "" && chips.length === 0) return Promise.resolve();
    const post = (parts: PromptParams["parts"]): Posted => ({ method: "session/prompt", params: { parts, delivery } });
    const plain = post(bareParts(draft));
    const whole = partsOf(draft, this.directory(chat) ?? "/", this.deps.editor.current).then(post, () => plain);
    this.#add(chat, "prompt", draft, plain, whole);
    return this.deps.memory.settled();
  }

  shell(chat: Chat, command: string): void {
    this.#add(chat, "shell", { text: command, chips: [] }, { method: "session/shell", params: { command } });
  }

  command(chat: Chat, command: string, words: string, chips: Draft["chips"]): void {
    const parts = chips.map(({ part }) => part);
    const text = words === "" ? `/${command}` : `/${command} ${words}`;
    this.#add(chat, "command", { text, chips }, { method: "session/command", params: { command, arguments: words, parts } });
  }

  #add(chat: Chat, kind: Entry["kind"], draft: Draft, post: Posted, whole?: Promise<Posted>): void {
    const directory = this.directory(chat);
    const { sessionId, key, chosen } = chat;
    if (directory === undefined) {
      chat.giveBack(draft, "Open a folder first: the agent works in one.");
      return;
    }
    const place = { chat: key, directory, chosen, ...(sessionId === undefined ? {} : { sessionId }) };
    this.outbox.add({ messageId: messageId(), kind, ...draft, ...place, post }, whole);
  }

  async #send(entry: Entry, created: (sessionId: string) => void): Promise<void> {
    const { server, sessions } = this.deps;
    let { sessionId } = entry;
    if (sessionId === undefined) {
      const { session } = await server.request("session/create", { directory: entry.directory, ...entry.chosen });
      sessionId = session.id;
      created(sessionId);
      sessions.put(session);
      const chat = this.deps.chat(entry.chat);
      if (chat?.sessionId === undefined) chat?.show(sessionId);
    }
    const { method, params } = entry.post;
    await server.request(method, { ...params, sessionId, messageId: entry.messageId });
  }

  #giveBack(entry: Entry, draft: Draft, error: RequestError): void {
    const why = error.kind === "unavailable" ? "agentls does not run." : error.message; // the state tells the whole of it
    const chat = this.deps.chat(entry.chat);
    if (chat) chat.giveBack(draft, `Not sent: ${why}`);
    else {
      putBack(this.deps.memory, SIDE_BAR, draft);
      void vscode.window.showWarningMessage(`Not sent: ${why} Your words are in the chat.`);
    }
    if (error.kind !== "untrusted") return;
    void this.deps.trust(folderFor(entry.directory)?.path ?? entry.directory).then((yes) => {
      if (yes) void vscode.window.showInformationMessage("The folder is trusted. Your words are in the chat, ready to be sent again.");
    });
  }
}

/** The server will not come back by itself. */
export function unavailable(reason: string | undefined): RequestError {
  return new RequestError(reason ?? "agentls does not run.", "unavailable");
}
