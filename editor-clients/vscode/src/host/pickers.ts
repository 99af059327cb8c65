/** The editor's own pickers: of agents, models and modes. */
import * as vscode from "vscode";
import type { ModelRef, Session, UpdateParams } from "../protocol";
import type { Mode } from "../shared/messages";
import type { Catalog, Entries } from "./catalog";
import type { Chat } from "./chat";
import { requestError } from "./failure";
import { folders } from "./folders";
import { iconless, oneLine } from "./plain";
import { pick, type Choice } from "./quick";
import type { Server } from "./server";
import type { Sessions } from "./sessions";

export interface PickerDeps {
  server: Server;
  sessions: Sessions;
  catalog: Catalog;
  directory(chat: Chat): string | undefined;
}

const MODES: Choice<Mode>[] = [
  { label: "ask", description: "edits and commands ask", value: "ask" },
  { label: "acceptEdits", description: "edits do not ask, commands do", value: "acceptEdits" },
  { label: "auto", description: "asks only outside the project, and about files that can make programs run", value: "auto" },
];

function nameOf({ providerId, modelId }: ModelRef): string {
  return `${providerId}/${modelId}`;
}

export class Pickers {
  constructor(private readonly deps: PickerDeps) {}

  async mode(chat: Chat): Promise<void> {
    const now = this.#session(chat)?.mode ?? chat.chosen.mode ?? "ask";
    const mode = await pick(MODES, { title: "Mode", placeholder: `Now: ${now}` });
    if (mode !== undefined) await this.#change(chat, { mode });
  }

  async agent(chat: Chat): Promise<void> {
    const entries = await this.#entries(chat);
    if (entries === undefined) return;
    const choices = entries.agents
      .filter(({ mode }) => mode !== "subagent")
      .map(({ name, description }) => ({ label: name, description: oneLine(description ?? ""), value: name }));
    const now = this.#session(chat)?.agent ?? chat.chosen.agent ?? entries.agents.find((agent) => agent.default)?.name ?? "";
    const agent = await pick(choices, { title: "Agent", placeholder: `Now: ${now}` });
    if (agent !== undefined) await this.#change(chat, { agent });
  }

  async model(chat: Chat): Promise<void> {
    const models = (await this.#entries(chat))?.models;
    if (models === undefined) return;
    const choices = models.map((model) => ({
      label: iconless(model.name),
      description: nameOf(model),
      value: { providerId: model.providerId, modelId: model.modelId },
    }));
    const now = this.#session(chat)?.model ?? chat.chosen.model ?? models.find((model) => model.default);
    const model = await pick(choices, { title: "Model", placeholder: now ? `Now: ${nameOf(now)}` : "No model is set up" });
    if (model !== undefined) await this.#change(chat, { model });
  }

  #session(chat: Chat): Session | undefined {
    return chat.sessionId === undefined ? undefined : this.deps.sessions.get(chat.sessionId);
  }

  /** Absent if there is nothing to choose from, which is said. */
  async #entries(chat: Chat): Promise<Entries | undefined> {
    const directory = this.deps.directory(chat) ?? folders()[0]?.path;
    if (directory === undefined) {
      void vscode.window.showInformationMessage("Open a folder first: the agent works in one.");
      return undefined;
    }
    try {
      return await this.deps.catalog.fetch(directory);
    } catch (error) {
      const { kind, message } = requestError(error); // why the server is not there is told by the state
      if (kind !== "unavailable") void vscode.window.showErrorMessage(`What there is to choose from could not be read: ${message}`);
      return undefined;
    }
  }

  /** Of the session, or of the one to come. */
  async #change(chat: Chat, change: Omit<UpdateParams, "sessionId" | "title" | "archived">): Promise<void> {
    if (chat.sessionId === undefined) {
      chat.choose(change);
      return;
    }
    try {
      const { session } = await this.deps.server.request("session/update", { sessionId: chat.sessionId, ...change });
      this.deps.sessions.put(session);
    } catch (error) {
      void vscode.window.showErrorMessage(`Not changed: ${requestError(error).message}`);
    }
  }
}
