/** One chat: a webview in the side bar or in an editor tab, and the session that it shows. */
import type * as vscode from "vscode";
import type { Position } from "../protocol";
import type { Draft, EventMessage, StateMessage, ToWebview } from "../shared/messages";
import { requestError } from "./failure";
import type { Memory } from "./memory";
import type { Chosen } from "./outbox";
import type { Notification, Server } from "./server";

const FRAME = 16;

export interface ChatDeps {
  server: Server;
  memory: Memory;
  state(chat: Chat): StateMessage;
  /** The session that it shows is another one. */
  moved(chat: Chat): void;
}

const NOTHING: Draft = { text: "", chips: [] };

/** The chat in the side bar, which every window has. */
export const SIDE_BAR = "view";

/** What is kept of a chat. */
export const draftOf = (key: string): string => `draft.${key}`;
export const shownOf = (key: string): string => `shown.${key}`;
export const chosenOf = (key: string): string => `chosen.${key}`;

/** Puts words before what is typed in a chat, open or not. */
export function putBack(memory: Memory, key: string, { text, chips }: Draft): void {
  const typed = memory.get<Draft>(draftOf(key), NOTHING);
  memory.set(draftOf(key), { text: [text, typed.text].filter((one) => one !== "").join("\n"), chips: [...chips, ...typed.chips] });
}

export class Chat {
  /** What a session that does not exist yet is created with. */
  chosen: Chosen;
  #sessionId: string | undefined;
  #position: Position | undefined;
  #ready = false;
  #attaching = 0;
  #outgoing: ToWebview[] = [];
  #timer: NodeJS.Timeout | undefined;
  #whenReady: ToWebview[] = [];

  constructor(
    /** Names it in what is kept. */
    readonly key: string,
    private readonly webview: vscode.Webview,
    private readonly deps: ChatDeps,
    sessionId?: string,
  ) {
    this.#sessionId = sessionId ?? deps.memory.get<string | undefined>(shownOf(key), undefined);
    this.chosen = deps.memory.get<Chosen>(chosenOf(key), {});
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  get draft(): Draft {
    return this.deps.memory.get<Draft>(draftOf(this.key), NOTHING);
  }

  set draft(draft: Draft) {
    const empty = draft.text === "" && draft.chips.length === 0;
    this.deps.memory.set(draftOf(this.key), empty ? undefined : draft);
  }

  choose(chosen: Chosen): void {
    this.chosen = { ...this.chosen, ...chosen };
    this.deps.memory.set(chosenOf(this.key), this.chosen);
    this.tell();
  }

  /** The page stands, for the first time or anew. */
  ready(): void {
    this.#ready = true;
    this.#outgoing = [];
    this.post(this.deps.state(this), { type: "draft", draft: this.draft }, ...this.#whenReady);
    this.#whenReady = [];
    this.#position = undefined;
    void this.attach();
  }

  /** Sends messages with the next frame. */
  post(...messages: ToWebview[]): void {
    if (!this.#ready) return;
    this.#outgoing.push(...messages);
    this.#timer ??= setTimeout(() => {
      this.#flush();
    }, FRAME);
  }

  /** Sends a message as soon as there is a page to read it. */
  postWhenReady(message: ToWebview): void {
    if (this.#ready) this.post(message);
    else this.#whenReady.push(message);
  }

  /** The state, once a frame at most: the newest one is what counts. */
  tell(): void {
    this.#outgoing = this.#outgoing.filter((message) => message.type !== "state");
    this.post(this.deps.state(this));
  }

  /** Shows another session; without an id a new one, which the first prompt creates. */
  show(sessionId: string | undefined): void {
    if (sessionId === this.#sessionId && sessionId !== undefined) return;
    this.#sessionId = sessionId;
    this.#position = undefined;
    this.deps.memory.set(shownOf(this.key), sessionId);
    this.deps.moved(this);
    this.tell();
    void this.attach();
  }

  /** Brings the page's copy up to date, from where it stands if it has one. */
  async attach(): Promise<void> {
    const sessionId = this.#sessionId;
    this.#attaching += 1;
    if (sessionId === undefined) this.post({ type: "session" });
    else if (this.#position === undefined) this.post({ type: "session", sessionId });
    if (sessionId !== undefined && this.#ready && this.deps.server.up) await this.#fetch(sessionId, this.#attaching);
  }

  async #fetch(sessionId: string, attempt: number): Promise<void> {
    const since = this.#position;
    try {
      const attach = await this.deps.server.request("session/attach", { sessionId, ...(since === undefined ? {} : { since }) });
      if (attempt !== this.#attaching) return;
      this.#position = attach.position;
      this.post({ type: "session", sessionId, attach });
    } catch (error) {
      const { kind, message } = requestError(error);
      if (attempt === this.#attaching && kind !== "gone" && kind !== "unavailable") this.post({ type: "session", sessionId, error: message });
    }
  }

  /** A notification; those of other sessions are passed over. */
  notified({ method, params }: Notification): void {
    const about = this.#about(params);
    if (about === undefined) return;
    if (about === "own" && method === "session/resync") void this.attach();
    else if (about === "own" && method === "session/deleted") this.show(undefined);
    else {
      if (about === "own" && "seq" in params) this.#applied(params.seq);
      this.post({ type: "event", method, params } as EventMessage);
    }
  }

  /** Whether it is about the shown session, or about one of its subtasks. */
  #about(params: Notification["params"]): "own" | "child" | undefined {
    if (!("sessionId" in params) || this.#sessionId === undefined) return undefined;
    if (params.sessionId === this.#sessionId) return "own";
    return "rootSessionId" in params && params.rootSessionId === this.#sessionId ? "child" : undefined;
  }

  #applied(seq: number | undefined): void {
    if (seq !== undefined && this.#position) this.#position = { ...this.#position, seq: Math.max(this.#position.seq, seq) };
  }

  /** What could not be sent, before what was typed since. It is kept as well: a page that is just replaced hears nothing. */
  giveBack({ text, chips }: Draft, reason: string): void {
    const draft = { text, chips };
    putBack(this.deps.memory, this.key, draft);
    this.post({ type: "giveBack", draft, reason });
  }

  /** The page is gone. */
  close(): void {
    this.#ready = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #flush(): void {
    this.#timer = undefined;
    const messages = this.#outgoing;
    this.#outgoing = [];
    if (messages.length > 0) void this.webview.postMessage(messages);
  }
}
