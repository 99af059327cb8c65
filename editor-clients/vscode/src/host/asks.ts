/** What waits for the user's answer: how it is told, asked and taken away again. */
import * as vscode from "vscode";
import type { Permission, Question, Requests } from "../protocol";
import { Announcement, announcement } from "./announce";
import type { Diffs } from "./diffs";
import { requestError } from "./failure";
import { askAlways, askPermission, askWords, type PermissionDeps, type Reply } from "./permission";
import type { Memory } from "./memory";
import { askQuestion } from "./question";
import { AskQueue, idOf, isPermission, type Ask } from "./queue";
import type { Notification, Server } from "./server";
import type { Sessions } from "./sessions";
import { Words } from "./words";

export interface AskDeps {
  server: Server;
  sessions: Sessions;
  diffs: Diffs;
  memory: Memory;
  /** The session that the user looks at: its questions come first. */
  current(): string | undefined;
  /** Whether dialogs open by themselves. */
  dialogs(): boolean;
  /** Shows its card in the chat. */
  showInChat(ask: Ask): void;
  /** Words that were not taken: nothing typed is lost. */
  giveBack(words: string): void;
}

/** What is told while the server is asked for something: newer than its answer. */
interface Meanwhile {
  asked: Ask[];
  resolved: Set<string>;
}

/** A dialog that is open, to take it away. */
interface Dialog {
  control: AbortController;
  over: Promise<unknown>;
}

type Kind = "answer" | "once" | "always" | "reject";

export class Asks implements vscode.Disposable {
  readonly queue = new AskQueue();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onChange = this.#changed.event;
  readonly #dialogs = new Map<string, Dialog>();
  readonly #words: Words;
  /** Those whose answer is on its way: their words are its. */
  readonly #answering = new Set<string>();
  readonly #awaiting = new Set<Meanwhile>();
  #told: { id: string; announcement: Announcement } | undefined;

  constructor(private readonly deps: AskDeps) {
    this.#words = new Words(deps.memory);
  }

  async notified({ method, params }: Notification): Promise<void> {
    if (method === "permission/asked" || method === "question/asked") {
      const ask = params as Permission | Question;
      const [ours, { resolved }] = await this.#during(() => this.deps.sessions.belongs(ask.rootSessionId));
      if (ours && !resolved.has(idOf(ask))) this.#put(ask);
    } else if (method === "permission/resolved" || method === "question/resolved") {
      const { permissionId, questionId } = params as { permissionId?: string; questionId?: string };
      const id = permissionId ?? questionId ?? "";
      for (const { resolved } of this.#awaiting) resolved.add(id);
      this.#settled([id]);
    }
  }

  /** The server's own list, after it was started: what it asked before is still open. */
  async refresh(): Promise<void> {
    const [listed, { asked, resolved }] = await this.#during(() => this.#listed());
    const open = [...listed, ...asked].filter((ask) => !resolved.has(idOf(ask)));
    this.#settled(this.queue.replace(open));
    for (const id of this.#words.asks) this.#giveBack(id); // settled before this window was
  }

  /** Opens the dialog of one, or of the first, at the user's wish. */
  async answer(id?: string, kind: Kind = "answer"): Promise<void> {
    const ask = id === undefined ? this.#first() : this.queue.get(id);
    if (ask === undefined) {
      void vscode.window.showInformationMessage(id === undefined ? "The agent asks nothing." : "That was settled already.");
      return;
    }
    if (isPermission(ask)) await this.#permission(ask, kind);
    else await this.#question(ask);
  }

  dispose(): void {
    this.#told?.announcement.withdraw();
    for (const { control } of this.#dialogs.values()) control.abort();
    this.#changed.dispose();
  }

  #first(): Ask | undefined {
    const current = this.deps.current();
    return (current === undefined ? undefined : this.queue.of(current)[0]) ?? this.queue.list()[0];
  }

  /** Those of the server that are of our folders. */
  async #listed(): Promise<Ask[]> {
    const [{ permissions }, { questions }] = await Promise.all([this.deps.server.request("permission/list", {}), this.deps.server.request("question/list", {})]);
    const all: Ask[] = [...permissions, ...questions];
    const ours = await Promise.all(all.map((ask) => this.deps.sessions.belongs(ask.rootSessionId)));
    return all.filter((_, index) => ours[index]);
  }

  async #during<T>(wait: () => Promise<T>): Promise<[T, Meanwhile]> {
    const meanwhile: Meanwhile = { asked: [], resolved: new Set() };
    this.#awaiting.add(meanwhile);
    try {
      return [await wait(), meanwhile];
    } finally {
      this.#awaiting.delete(meanwhile);
    }
  }

  #put(ask: Ask): void {
    for (const { asked } of this.#awaiting) asked.push(ask);
    this.queue.put(ask);
    this.#refreshed();
  }

  #settled(ids: readonly string[]): void {
    for (const id of ids) {
      this.queue.settle(id);
      this.#dialogs.get(id)?.control.abort();
      void this.deps.diffs.close(id);
      this.#giveBack(id);
    }
    this.#refreshed();
  }

  /** One at a time: the next is told of when this one is settled or put off. */
  #refreshed(): void {
    this.#changed.fire();
    if (this.#told && !this.queue.get(this.#told.id)) this.#withdraw();
    const next = this.queue.next();
    if (this.#told || !next || !this.deps.dialogs()) return;
    this.#tell(next);
  }

  #tell(ask: Ask): void {
    const id = idOf(ask);
    const later = () => {
      this.#later(id);
    };
    this.#told = { id, announcement: new Announcement(announcement(ask, this.queue.list().length), later) };
    if (isPermission(ask) && ask.metadata.files?.length === 1) void this.deps.diffs.showAsked(ask, false);
  }

  #withdraw(): void {
    this.#told?.announcement.withdraw();
    this.#told = undefined;
  }

  #later(id: string): void {
    this.queue.putOff(id);
    if (this.#told?.id === id) this.#withdraw();
    this.#refreshed();
  }

  async #permission(ask: Permission, kind: Kind): Promise<void> {
    const reply: Reply | undefined = kind === "once" ? { reply: "once" } : await this.#asked(ask, kind);
    if (reply) await this.#reply(ask, "permission/reply", { ...reply, permissionId: ask.permissionId });
  }

  async #asked(ask: Permission, kind: Kind): Promise<Reply | undefined> {
    return this.#open(ask, (signal) => {
      const deps = this.#dialogDeps(ask, signal);
      if (kind === "always") return askAlways(ask, signal);
      if (kind === "reject") return askWords(ask, deps);
      const { index, count } = this.queue.place(ask.permissionId);
      const title = count > 1 ? `Permission: ${ask.permission} (${index} of ${count})` : `Permission: ${ask.permission}`;
      return askPermission(ask, title, deps);
    });
  }

  #dialogDeps(ask: Permission, signal: AbortSignal): PermissionDeps {
    const id = ask.permissionId;
    return {
      signal,
      showDiff: () => void this.deps.diffs.showAsked(ask, true),
      showInChat: () => {
        this.deps.showInChat(ask);
      },
      words: () => this.#words.get(id, 0),
      keep: (words) => {
        this.#words.keep(id, 0, words);
      },
    };
  }

  async #question(ask: Question): Promise<void> {
    const { questionId } = ask;
    const words = (item: number): string => this.#words.get(questionId, item);
    const keep = (item: number, typed: string): void => {
      this.#words.keep(questionId, item, typed);
    };
    const answers = await this.#open(ask, (signal) => askQuestion(ask, { signal, words, keep }));
    if (answers === undefined) return;
    if (answers === "dismissed") await this.#reply(ask, "question/reject", { questionId });
    else await this.#reply(ask, "question/reply", { questionId, ...answers });
  }

  /** A dialog that goes away when its question is settled; an earlier one of the same question goes first. */
  async #open<T>(ask: Ask, show: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const id = idOf(ask);
    const before = this.#dialogs.get(id);
    before?.control.abort();
    const control = new AbortController();
    const over = Promise.resolve(before?.over).then(() => show(control.signal));
    this.#dialogs.set(id, { control, over });
    try {
      return await over;
    } finally {
      if (this.#dialogs.get(id)?.control === control) this.#dialogs.delete(id);
      this.#giveBack(id);
    }
  }

  /** Words for what is settled go to the user, once no dialog and no answer has them. */
  #giveBack(id: string): void {
    if (this.queue.get(id) || this.#dialogs.has(id) || this.#answering.has(id)) return;
    const words = this.#words.take(id);
    if (words !== "") this.deps.giveBack(words);
  }

  /** The words that belong to the answer are kept until it has arrived. */
  async #reply<M extends "permission/reply" | "question/reply" | "question/reject">(ask: Ask, method: M, params: Requests[M]["params"]): Promise<void> {
    const id = idOf(ask);
    this.#answering.add(id);
    try {
      const { status, resolution } = await this.deps.server.request(method, params);
      if (status === "accepted") this.#words.take(id);
      else void vscode.window.showInformationMessage(`Somebody else answered first: ${resolution.outcome}.`);
      this.#answering.delete(id);
      this.#settled([id]);
    } catch (error) {
      const where = this.queue.get(id) && this.#words.asks.includes(id) ? " Your words are in its dialog when you answer again." : "";
      void vscode.window.showErrorMessage(`Your answer did not arrive: ${requestError(error).message}${where}`);
    } finally {
      this.#answering.delete(id);
      this.#giveBack(id);
    }
  }
}
