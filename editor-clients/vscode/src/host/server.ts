/** The server as the extension sees it: starts it, starts it again when it ended, and sends requests. */
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { Notifications, Requests } from "../protocol";
import type { ServerView } from "../shared/messages";
import { Backoff } from "./backoff";
import { clientFor, versionProblem, type ClientParts, type NotificationMethod } from "./client";
import { RequestError, requestError } from "./failure";
import { findServer, startProblem, type Problem, type Program, type Surroundings } from "./find";
import { ServerProcess } from "./process";

export interface Notification<M extends NotificationMethod = NotificationMethod> {
  method: M;
  params: Notifications[M];
}

/** What the server is started with, asked for anew at each start. */
export interface Launch {
  surroundings(): Promise<Surroundings>;
  cwd(): string | undefined;
  env(): Record<string, string>;
  client(): Omit<ClientParts, "notified">;
}

const PATIENCE = 5000;

interface Waiter {
  resolve: () => void;
  reject: (error: Error) => void;
}

export class Server implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<ServerView>();
  readonly #notified = new vscode.EventEmitter<Notification>();
  readonly onState = this.#changed.event;
  readonly onNotification = this.#notified.event;
  #view: ServerView = { state: "down", remedies: [] };
  #client: LanguageClient | undefined;
  #process: ServerProcess | undefined;
  #waiting: Waiter[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Counts starts: whatever belongs to an earlier one has nothing to say any more. */
  #start = 0;

  constructor(
    private readonly launch: Launch,
    private readonly backoff = new Backoff(),
  ) {}

  get view(): ServerView {
    return this.#view;
  }

  get up(): boolean {
    return this.#view.state === "up";
  }

  /** Resolves when the server is up, starting it if it is not; rejects with why it cannot be. */
  ready(): Promise<void> {
    if (this.up) return Promise.resolve();
    const ready = new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    if (this.#view.state !== "starting") {
      this.backoff.reset();
      void this.#launch();
    }
    return ready;
  }

  /** Rejects with a `RequestError`; of kind `gone` if the server ended before it answered. */
  async request<M extends keyof Requests>(method: M, params: Requests[M]["params"], token?: vscode.CancellationToken): Promise<Requests[M]["result"]> {
    await this.ready();
    const client = this.#client;
    if (client === undefined) throw new RequestError("agentls has ended.", "gone");
    try {
      return await (token ? client.sendRequest<Requests[M]["result"]>(method, params, token) : client.sendRequest<Requests[M]["result"]>(method, params));
    } catch (error) {
      throw requestError(error);
    }
  }

  /** New settings of ours for the running server. */
  configure(settings: Record<string, unknown>): void {
    if (this.up) void this.#client?.sendNotification("workspace/didChangeConfiguration", { settings: { agentls: settings } });
  }

  async restart(): Promise<void> {
    await this.stop("agentls is restarting.");
    await this.ready();
  }

  /** Ends the server for good, or until it is wanted again. */
  async stop(reason = "agentls was stopped."): Promise<void> {
    this.#start += 1;
    clearTimeout(this.#timer);
    const [client, running] = [this.#client, this.#process];
    this.#client = this.#process = undefined;
    this.#tell({ state: "down", reason, remedies: ["restart"] });
    this.#settle(new RequestError(reason, "gone")); // nothing is wrong: what was sent meanwhile is kept for the next one
    await this.#end(client, running);
  }

  dispose(): void {
    void this.stop();
    this.#changed.dispose();
    this.#notified.dispose();
  }

  async #launch(): Promise<void> {
    this.#start += 1;
    const start = this.#start;
    this.#tell({ ...this.#view, state: "starting", remedies: [] });
    try {
      const found = await findServer(await this.launch.surroundings());
      if (start !== this.#start) return;
      if ("problem" in found) this.#fail(found.problem);
      else await this.#run(found.program, start);
    } catch (error) {
      const reason = `agentls could not be looked for: ${(error as Error).message}. Try again, or choose where it is.`;
      if (start === this.#start) this.#fail({ reason, remedies: ["restart", "log", "choosePath"] });
    }
  }

  async #run(program: Program, start: number): Promise<void> {
    try {
      const running = await ServerProcess.start(program, this.launch.cwd(), this.launch.env());
      if (start === this.#start) await this.#connect(program, running, start);
      else await running.end(0);
    } catch (error) {
      if (start === this.#start) this.#fail(startProblem(program, (error as Error).message));
    }
  }

  async #connect(program: Program, running: ServerProcess, start: number): Promise<void> {
    const current = () => start === this.#start;
    const client = clientFor(running, {
      ...this.launch.client(),
      notified: (method, params) => {
        if (current()) this.#notified.fire({ method, params });
      },
    });
    this.#process = running;
    const started = client.start().then(
      () => true,
      () => false,
    );
    const begun = await Promise.race([started, running.ended.then(() => false)]);
    if (!current()) return this.#end(client, running);
    if (!begun) return this.#unbegun(program, client, running);
    const problem = versionProblem(client, [program.command, ...program.args].join(" "));
    if (problem !== undefined) {
      this.#fail({ reason: problem, remedies: ["restart", "choosePath", "readme"] });
      return this.#end(client, running);
    }
    this.#client = client;
    void running.ended.then((how) => {
      if (current()) this.#again(`agentls ${how}`, running);
    });
    const version = client.initializeResult?.serverInfo?.version;
    this.#tell({ state: "up", remedies: [], ...(version === undefined ? {} : { version }) });
    this.#settle();
  }

  /** It ended, or talked nonsense, before it was up. */
  async #unbegun(program: Program, client: LanguageClient, running: ServerProcess): Promise<void> {
    this.#process = undefined;
    const how = running.over ? await running.ended : "did not answer as a language server does";
    await this.#end(client, running);
    const words = running.lastWords;
    const said = words === "" ? `it ${how}` : `it ${how} and said: ${words}`;
    if (program.fetches || !running.over) this.#fail(startProblem(program, said));
    else this.#again(startProblem(program, said).reason, running);
  }

  #again(reason: string, running: ServerProcess): void {
    this.#client = this.#process = undefined;
    const pause = this.backoff.crashed(Date.now() - running.started);
    if (pause === undefined) {
      const times = `agentls ended ${this.backoff.crashes} times in a row`;
      this.#fail({ reason: `${times} (${reason}). Look into its log, then restart it.`, remedies: ["restart", "log", "choosePath"] });
      return;
    }
    this.#start += 1;
    this.#tell({ state: "starting", reason: `${reason}; starting it again.`, remedies: ["log"] });
    this.#timer = setTimeout(() => void this.#launch(), pause);
  }

  #fail({ reason, remedies }: Problem): void {
    this.#start += 1;
    this.#client = this.#process = undefined;
    this.#tell({ state: "failed", reason, remedies });
    this.#settle(new RequestError(reason, "unavailable"));
  }

  #tell(view: ServerView): void {
    this.#view = view;
    this.#changed.fire(view);
  }

  #settle(error?: Error): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) {
      if (error) one.reject(error);
      else one.resolve();
    }
  }

  async #end(client: LanguageClient | undefined, running: ServerProcess | undefined): Promise<void> {
    await client?.dispose(PATIENCE).catch(() => undefined); // it is ending one way or the other
    await running?.end(client ? 500 : 0);
  }
}
