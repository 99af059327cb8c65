/** What waits for the user's answer: how it is told, asked and taken away again. */
import * as vscode from "vscode";
import type { Permission, Question, Requests } from "../protocol";
import { Announcement, announcement } from "./announce";
import type { Diffs } from "./diffs";
import { requestError } from "./failure";
import { askAlways, askPermission, askWords, type PermissionDeps, type Reply } from "./permission";
import { askQuestion, type Answers } from "./question";
import { AskQueue, idOf, isPermission, type Ask } from "./queue";
import type { Notification, Server } from "./server";
import type { Sessions } from "./sessions";

export interface AskDeps {
  server: Server;
  sessions: Sessions;
  diffs: Diffs;
  /** The session that the user looks at: its questions come first. */
  current(): string | undefined;
  /** Whether dialogs open by themselves. */
  dialogs(): boolean;
  /** Shows its card in the chat. */
  showInChat(ask: Ask): void;
  /** Words that were not taken: nothing typed is lost. */
  giveBack(ask: Ask, words: string): void;
}

type Kind = "answer" | "once" | "always" | "reject";

export class Asks implements vscode.Disposable {
  readonly queue = new AskQueue();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onChange = this.#changed.event;
  /** Of the dialogs that are open, to take them away. */
  readonly #dialogs = new Map<string, AbortController>();
  readonly #words = new Map<string, string>();
  #told: { id: string; announcement: Announcement } | undefined;

  constructor(private readonly deps: AskDeps) {}

  async notified({ method, params }: Notification): Promise<void> {
    if (method === "permission/asked" || method === "question/asked") {
      const ask = params as Permission | Question;
      if (await this.deps.sessions.belongs(ask.rootSessionId)) this.#put(ask);
    } else if (method === "permission/resolved" || method === "question/resolved") {
      const { permissionId, questionId } = params as { permissionId?: string; questionId?: string };
      this.#settled([permissionId ?? questionId ?? ""]);
    }
  }

  /** The server's own list, after it was started: what it asked before is still open. */
  async refresh(): Promise<void> {
    const [{ permissions }, { questions }] = await Promise.all([this.deps.server.request("permission/list", {}), this.deps.server.request("question/list", {})]);
    const all: Ask[] = [...permissions, ...questions];
    const ours = await Promise.all(all.map((ask) => this.deps.sessions.belongs(ask.rootSessionId)));
    this.#settled(this.queue.replace(all.filter((_, index) => ours[index])));
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
    for (const dialog of this.#dialogs.values()) dialog.abort();
    this.#changed.dispose();
  }

  #first(): Ask | undefined {
    const current = this.deps.current();
    return (current === undefined ? undefined : this.queue.of(current)[0]) ?? this.queue.list()[0];
  }

  #put(ask: Ask): void {
    this.queue.put(ask);
    this.#refreshed();
  }

  #settled(ids: readonly string[]): void {
    for (const id of ids) {
      this.queue.settle(id);
      this.#dialogs.get(id)?.abort();
      void this.deps.diffs.close(id);
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
    if (reply) await this.#reply(ask, "permission/reply", { ...reply, permissionId: ask.permissionId }, reply.message);
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

  #dialogDeps(ask: Ask, signal: AbortSignal): PermissionDeps {
    const id = idOf(ask);
    return {
      signal,
      showDiff: () => {
        if (isPermission(ask)) void this.deps.diffs.showAsked(ask, true);
      },
      showInChat: () => {
        this.deps.showInChat(ask);
      },
      words: () => this.#words.get(id) ?? "",
      keep: (words) => {
        if (signal.aborted && words.trim() !== "") this.deps.giveBack(ask, words);
        else this.#words.set(id, words);
      },
    };
  }

  async #question(ask: Question): Promise<void> {
    const answers = await this.#open(ask, (signal) => askQuestion(ask, this.#dialogDeps(ask, signal)));
    if (answers === undefined) return;
    const { questionId } = ask;
    if (answers === "dismissed") await this.#reply(ask, "question/reject", { questionId });
    else await this.#reply(ask, "question/reply", { questionId, ...answers }, ownWords(ask, answers));
  }

  /** A dialog that goes away when its question is settled; an earlier one of the same question goes now. */
  async #open<T>(ask: Ask, show: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const id = idOf(ask);
    this.#dialogs.get(id)?.abort();
    const dialog = new AbortController();
    this.#dialogs.set(id, dialog);
    try {
      return await show(dialog.signal);
    } finally {
      if (this.#dialogs.get(id) === dialog) this.#dialogs.delete(id);
    }
  }

  async #reply<M extends "permission/reply" | "question/reply" | "question/reject">(ask: Ask, method: M, params: Requests[M]["params"], words = ""): Promise<void> {
    const lost = () => {
      if (words !== "") this.deps.giveBack(ask, words);
    };
    try {
      const { status, resolution } = await this.deps.server.request(method, params);
      this.#settled([idOf(ask)]);
      if (status === "accepted") return;
      lost();
      void vscode.window.showInformationMessage(`Somebody else answered first: ${resolution.outcome}.`);
    } catch (error) {
      lost();
      void vscode.window.showErrorMessage(`Your answer did not arrive: ${requestError(error).message}`);
    }
  }
}

/** What the user wrote, as against the labels that were offered. */
function ownWords(ask: Question, answers: Exclude<Answers, "dismissed">): string {
  const labels = new Set(ask.questions.flatMap((item) => item.options.map(({ label }) => label)));
  return answers.answers
    .flat()
    .filter((answer) => !labels.has(answer))
    .join("\n");
}
