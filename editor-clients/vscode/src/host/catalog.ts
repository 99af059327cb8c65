/** What there is to choose from, for each folder. */
import * as vscode from "vscode";
import type { AgentEntry, CommandEntry, ModelEntry } from "../protocol";
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
  readonly #entries = new Map<string, Entries>();
  readonly #asked = new Set<string>();

  constructor(private readonly server: Server) {}

  /** What is known; fetched if it is not. */
  of(directory: string | undefined): Entries {
    if (directory === undefined) return NONE;
    if (this.server.up && !this.#asked.has(directory)) void this.fetch(directory);
    return this.#entries.get(directory) ?? NONE;
  }

  async fetch(directory: string): Promise<Entries> {
    this.#asked.add(directory);
    try {
      const [agents, models, commands] = await Promise.all([
        this.server.request("agent/list", { directory }),
        this.server.request("model/list", { directory }),
        this.#commands(directory),
      ]);
      const entries = { agents: agents.agents, models: models.models, commands };
      this.#entries.set(directory, entries);
      this.#changed.fire();
      return entries;
    } catch {
      this.#asked.delete(directory); // the server has ended; asked again when it is back
      return this.of(undefined);
    }
  }

  /** Settings, trust or the server changed. */
  forget(): void {
    this.#asked.clear();
    this.#changed.fire();
  }

  dispose(): void {
    this.#changed.dispose();
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
