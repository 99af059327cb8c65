/** The sessions of the workspace's folders, and what each of them is doing. */
import * as vscode from "vscode";
import type { Session } from "../protocol";
import type { SessionRow } from "../shared/messages";
import { folderFor, folders } from "./folders";
import type { Notification, Server } from "./server";

type Status = SessionRow["status"];
const SHOWN = 50;

export class Sessions implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  /** Of what the rows say. */
  readonly onChange = this.#changed.event;
  readonly #known = new Map<string, Session>();
  readonly #status = new Map<string, Status>();
  readonly #others = new Map<string, Promise<boolean>>();

  constructor(private readonly server: Server) {}

  get(id: string): Session | undefined {
    return this.#known.get(id);
  }

  status(id: string): Status {
    return this.#status.get(id) ?? "idle";
  }

  /** Sessions of the user, the newest first. */
  list(): Session[] {
    const all = [...this.#known.values()].filter(({ parentId, directory, time }) => parentId === undefined && time.archived === undefined && folderFor(directory));
    return all.sort((one, other) => other.time.updated - one.time.updated).slice(0, SHOWN);
  }

  async refresh(): Promise<void> {
    const lists = await Promise.all(folders().map(({ path }) => this.server.request("session/list", { directory: path, limit: SHOWN })));
    for (const session of lists.flatMap((list) => list.sessions)) this.#known.set(session.id, session);
    this.#changed.fire();
  }

  /** Whether a session is about a folder of this window: the server tells of others too. */
  belongs(id: string): Promise<boolean> {
    const known = this.#known.get(id);
    if (known) return Promise.resolve(folderFor(known.directory) !== undefined);
    const asked = this.#others.get(id) ?? this.#fetch(id);
    this.#others.set(id, asked);
    return asked;
  }

  put(session: Session): void {
    this.#known.set(session.id, session);
    this.#changed.fire();
  }

  notified(notification: Notification): void {
    const { method, params } = notification;
    switch (method) {
      case "session/created":
      case "session/updated":
        this.put((params as Notification<"session/updated">["params"]).session);
        break;
      case "session/deleted":
        this.#known.delete((params as Notification<"session/deleted">["params"]).sessionId);
        this.#changed.fire();
        break;
      case "session/status": {
        const { sessionId, status } = params as Notification<"session/status">["params"];
        if (this.#status.get(sessionId) === status.type) break;
        this.#status.set(sessionId, status.type);
        this.#changed.fire();
        break;
      }
      default:
    }
  }

  /** The server has ended: nothing runs any more. */
  idle(): void {
    this.#status.clear();
    this.#others.clear();
    this.#changed.fire();
  }

  dispose(): void {
    this.#changed.dispose();
  }

  async #fetch(id: string): Promise<boolean> {
    try {
      const { session, status } = await this.server.request("session/get", { sessionId: id });
      this.#status.set(id, status.type);
      this.put(session);
      return folderFor(session.directory) !== undefined;
    } catch {
      return false; // it is gone
    }
  }
}
