/** What the user sent and the server has not taken yet. It outlives the window and the server. */
import type { CommandParams, ModelRef, PromptParams, ShellParams } from "../protocol";
import type { Draft, Mode, Unsent } from "../shared/messages";
import type { RequestError } from "./failure";

export interface Chosen {
  agent?: string;
  model?: ModelRef;
  mode?: Mode;
}

type Without<P> = Omit<P, "sessionId" | "messageId">;
export type Posted =
  | { method: "session/prompt"; params: Without<PromptParams> }
  | { method: "session/shell"; params: Without<ShellParams> }
  | { method: "session/command"; params: Without<CommandParams> };

export type Entry = Unsent & {
  /** The chat that it was sent in. */
  chat: string;
  directory: string;
  chosen: Chosen;
  /** Absent until its session is created. */
  sessionId?: string;
  post: Posted;
};

export interface Kept {
  read(): Entry[];
  write(entries: readonly Entry[]): void;
}

export interface Post {
  /** Creates the session if the entry has none, then sends. Rejects with a `RequestError`. */
  send(entry: Entry, created: (sessionId: string) => void): Promise<void>;
  /** It cannot be sent: it belongs back to the user. */
  giveBack(entry: Entry, draft: Draft, error: RequestError): void;
  changed(): void;
}

export class Outbox {
  #entries: Entry[];
  readonly #sending = new Set<string>();
  /** All that was ever taken, for pages that are not sure. */
  readonly #known: Set<string>;
  /** Of entries whose post is still being made. */
  readonly #whole = new Map<string, Promise<void>>();

  constructor(
    private readonly kept: Kept,
    private readonly post: Post,
  ) {
    this.#entries = kept.read();
    this.#known = new Set(this.#entries.map(({ messageId }) => messageId));
  }

  /** Whether it was taken, by this window or by an earlier one that did not send it. */
  knows(messageId: string): boolean {
    return this.#known.has(messageId);
  }

  of(chat: string): Unsent[] {
    return this.#entries.filter((entry) => entry.chat === chat).map(({ messageId, kind, text, chips }) => ({ messageId, kind, text, chips }));
  }

  /** It has its place at once; `whole` is its post where that takes a while to make, and goes instead of the entry's. */
  add(entry: Entry, whole?: Promise<Posted>): void {
    this.#known.add(entry.messageId);
    this.#put([...this.#entries, entry]);
    if (whole) this.#whole.set(entry.messageId, this.#completed(entry.messageId, whole));
    void this.pump(entry.chat);
  }

  /** The server is back, or the window is. */
  pumpAll(): void {
    for (const chat of new Set(this.#entries.map((entry) => entry.chat))) void this.pump(chat);
  }

  /** The server will not come back by itself: all goes back to the user. */
  giveUp(error: RequestError): void {
    this.#returnAll((entry) => !this.#sending.has(entry.chat), error);
  }

  /** Sends a chat's entries one after another, in their order. */
  async pump(chat: string): Promise<void> {
    if (this.#sending.has(chat)) return;
    this.#sending.add(chat);
    try {
      for (let entry = this.#first(chat); entry; entry = this.#first(chat)) {
        const making = this.#whole.get(entry.messageId);
        if (making) await making;
        else if (!(await this.#sent(entry))) return;
      }
    } finally {
      this.#sending.delete(chat);
    }
  }

  async #completed(messageId: string, whole: Promise<Posted>): Promise<void> {
    const post = await whole;
    this.#whole.delete(messageId);
    this.#put(this.#entries.map((entry) => (entry.messageId === messageId ? ({ ...entry, post }) : entry)));
  }

  #first(chat: string): Entry | undefined {
    return this.#entries.find((entry) => entry.chat === chat);
  }

  /** Whether the next one may go. */
  async #sent(entry: Entry): Promise<boolean> {
    try {
      await this.post.send(entry, (sessionId) => {
        this.#created(entry.chat, sessionId);
      });
    } catch (error) {
      const failure = error as RequestError;
      if (failure.kind === "gone") return false; // sent again when the server is back; its id makes it count once
      if (failure.kind === "unavailable") { // each further one would only start it, and see it fail, once more
        this.#returnAll(({ chat }) => chat === entry.chat, failure);
        return false;
      }
      this.#return(entry, failure);
      return true;
    }
    this.#drop(entry);
    return true;
  }

  /** The last one first: each goes before what came after it. */
  #returnAll(which: (entry: Entry) => boolean, error: RequestError): void {
    for (const entry of this.#entries.filter(which).reverse()) this.#return(entry, error);
  }

  /** The words are with the user before they are forgotten here. */
  #return(entry: Entry, error: RequestError): void {
    this.post.giveBack(entry, { text: entry.text, chips: entry.chips }, error);
    this.#drop(entry);
  }

  /** What else was sent in that chat belongs to its new session. */
  #created(chat: string, sessionId: string): void {
    this.#put(this.#entries.map((entry) => (entry.chat === chat && entry.sessionId === undefined ? { ...entry, sessionId } : entry)));
  }

  #drop({ messageId }: Entry): void {
    this.#put(this.#entries.filter((entry) => entry.messageId !== messageId));
  }

  #put(entries: Entry[]): void {
    this.#entries = entries;
    this.kept.write(entries);
    this.post.changed();
  }
}
