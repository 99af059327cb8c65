/** Sends what the user wrote: gives it a session if it has none, and the parts that its words name. */
import * as vscode from "vscode";
import type { PromptParams } from "../protocol";
import { messageId as newId } from "../shared/ids";
import type { Draft, Sent } from "../shared/messages";
import { putBack, SIDE_BAR, type Chat } from "./chat";
import type { Editor } from "./editor";
import { RequestError } from "./failure";
import { folderFor, folderOf } from "./folders";
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

/** Words that come from a chat's input, with their id there and what stays in it. */
interface From {
  messageId: string;
  left: Draft;
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

  /** What a page has sent. It may forget the words once they are kept here. */
  async take(chat: Chat, sent: Sent): Promise<void> {
    const { messageId } = sent;
    if (!this.outbox.knows(messageId)) this.#take(chat, sent, { messageId, left: leftOf(chat.draft, sent) });
    await this.deps.memory.settled();
    chat.post({ type: "taken", messageId });
  }

  /** Ends when the words are kept. */
  prompt(chat: Chat, draft: Draft, delivery: "steer" | "queue"): Promise<void> {
    this.#prompt(chat, draft, delivery);
    return this.deps.memory.settled();
  }

  shell(chat: Chat, command: string, from?: From): void {
    this.#add(chat, { kind: "shell", text: command, chips: [], post: { method: "session/shell", params: { command } } }, from);
  }

  #take(chat: Chat, sent: Sent, from: From): void {
    if (sent.type === "prompt") this.#prompt(chat, sent.draft, sent.delivery, from);
    else if (sent.type === "shell") this.shell(chat, sent.command, from);
    else {
      const { command, arguments: words, chips } = sent;
      const parts = chips.map(({ part }) => part);
      const text = words === "" ? `/${command}` : `/${command} ${words}`;
      this.#add(chat, { kind: "command", text, chips, post: { method: "session/command", params: { command, arguments: words, parts } } }, from);
    }
  }

  /** What the words name with `@` is looked up while they wait in their place. */
  #prompt(chat: Chat, draft: Draft, delivery: "steer" | "queue", from?: From): void {
    if (isEmpty(draft)) return;
    const post = (parts: PromptParams["parts"]): Posted => ({ method: "session/prompt", params: { parts, delivery } });
    const plain = post(bareParts(draft));
    const whole = partsOf(draft, this.directory(chat) ?? "/", this.deps.editor.current).then(post, () => plain);
    this.#add(chat, { kind: "prompt", ...draft, post: plain }, from, whole);
  }

  #add(chat: Chat, what: Pick<Entry, "kind" | "text" | "chips" | "post">, from?: From, whole?: Promise<Posted>): void {
    const directory = this.directory(chat);
    const { sessionId, key, chosen } = chat;
    if (directory === undefined) {
      if (from) chat.draft = from.left;
      chat.giveBack(what, "Open a folder first: the agent works in one.");
      return;
    }
    const place = { chat: key, directory, chosen, ...(sessionId === undefined ? {} : { sessionId }) };
    this.outbox.add({ messageId: from?.messageId ?? newId(), ...what, ...place }, whole);
    if (from) chat.draft = from.left; // kept as not sent by now
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

function isEmpty({ text, chips }: Draft): boolean {
  return text.trim() === "" && chips.length === 0;
}

const unspaced = (text: string): string => text.replaceAll(/\s+/g, "");

function typedAs(sent: Sent): string {
  if (sent.type === "prompt") return sent.draft.text;
  return sent.type === "shell" ? `!${sent.command}` : `/${sent.command}${sent.arguments}`;
}

/** What stays typed when this was sent: the kept draft is it, or its beginning, unless more was typed since. */
function leftOf(draft: Draft, sent: Sent): Draft {
  if (!unspaced(typedAs(sent)).startsWith(unspaced(draft.text))) return draft;
  return { text: "", chips: sent.type === "shell" ? draft.chips : [] };
}

/** The server will not come back by itself. */
export function unavailable(reason: string | undefined): RequestError {
  return new RequestError(reason ?? "agentls does not run.", "unavailable");
}
