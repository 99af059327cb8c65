/** What there is to choose from, for each folder. */
import * as vscode from "vscode";
import type { AgentEntry, CommandEntry, ModelEntry } from "../protocol";
import { Fetched } from "./fetched";
import type { Server } from "./server";

export interface Entries {
  agents: AgentEntry[];
  models: ModelEntry[];
  commands: CommandEntry[];
}

const NONE: Entries = { agents: [], models: [], commands: [] };

export class Catalog implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onChange = this.#changed.event;
  readonly #entries = new Fetched((directory) => this.#read(directory));

  constructor(private readonly server: Server) {}

  /** What is known; fetched if it is not. */
  of(directory: string | undefined): Entries {
    if (directory === undefined) return NONE;
    if (this.server.up && !this.#entries.isAsked(directory)) void this.fetch(directory).catch(() => undefined); // it is read again when it is next wanted
    return this.#entries.last(directory) ?? NONE;
  }

  /** Rejects with a `RequestError`. */
  async fetch(directory: string): Promise<Entries> {
    const entries = await this.#entries.fetch(directory);
    this.#changed.fire();
    return entries;
  }

  /** Settings, trust or the server changed. */
  forget(): void {
    this.#entries.forget();
    this.#changed.fire();
  }

  dispose(): void {
    this.#changed.dispose();
  }

  async #read(directory: string): Promise<Entries> {
    const [{ agents }, { models }, commands] = await Promise.all([
      this.server.request("agent/list", { directory }),
      this.server.request("model/list", { directory }),
      this.#commands(directory),
    ]);
    return { agents, models, commands };
  }

  /** A server without commands is none the worse. */
  async #commands(directory: string): Promise<CommandEntry[]> {
    try {
      return (await this.server.request("command/list", { directory })).commands;
    } catch {
      return [];
    }
  }
}
