/** What can be done when the server is not there: the words of each button, and what it does. */
import * as vscode from "vscode";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Remedy } from "../shared/messages";
import { requestError } from "./failure";
import { waysToGet, type Way } from "./find";
import { settings } from "./settings";
import type { Server } from "./server";
import { surroundings } from "./surroundings";

const TITLES: Record<Remedy, string> = {
  restart: "Try again",
  log: "Show log",
  install: "Install agentls…",
  choosePath: "Choose path…",
  readme: "How to install",
  trust: "Trust this folder…",
};

/** The new setting starts the server. */
async function choose(path: string | string[]): Promise<void> {
  await vscode.workspace.getConfiguration("agentls").update("path", path, vscode.ConfigurationTarget.Global);
}

export interface RemedyDeps {
  server: Server;
  channel: vscode.LogOutputChannel;
  readme: vscode.Uri;
  trust(): Promise<void>;
}

export class Remedies {
  constructor(private readonly deps: RemedyDeps) {}

  /** Says what happened and offers what helps. */
  async tell(reason: string, remedies: readonly Remedy[]): Promise<void> {
    const titles = new Map(remedies.slice(0, 3).map((remedy) => [TITLES[remedy], remedy]));
    const title = await vscode.window.showErrorMessage(reason, ...titles.keys());
    const remedy = title === undefined ? undefined : titles.get(title);
    if (remedy) await this.run(remedy);
  }

  async run(remedy: Remedy): Promise<void> {
    switch (remedy) {
      case "restart":
        await this.deps.server.restart().catch(() => undefined); // what went wrong is told by the state
        break;
      case "log":
        await this.log();
        break;
      case "install":
        await this.#install();
        break;
      case "choosePath":
        await this.#choosePath();
        break;
      case "readme":
        await vscode.commands.executeCommand("markdown.showPreview", this.deps.readme);
        break;
      case "trust":
        await this.deps.trust();
        break;
    }
  }

  /** The server's own log; where there is none, what the extension wrote down. */
  async log(): Promise<void> {
    const env = { ...process.env, ...settings().env };
    const state = env["XDG_STATE_HOME"] ?? "";
    const folder = isAbsolute(state) ? state : join(env["HOME"] ?? homedir(), ".local/state");
    const path = vscode.Uri.file(join(folder, "agentls/log/agentls.log"));
    try {
      const document = await vscode.workspace.openTextDocument(path);
      const end = document.lineAt(document.lineCount - 1).range.end;
      await vscode.window.showTextDocument(document, { selection: new vscode.Range(end, end) });
    } catch {
      this.deps.channel.show(true);
      void vscode.window.showInformationMessage(`The server has written no log yet (${path.fsPath}). This is the extension's own.`);
    }
  }

  async #install(): Promise<void> {
    const ways = await waysToGet(await surroundings());
    if (ways.length === 0) {
      void vscode.window.showInformationMessage("Install uv (docs.astral.sh/uv) or pipx first: they fetch agentls.");
      return;
    }
    const way = await vscode.window.showQuickPick(ways, { title: "Install agentls, or run it without", placeHolder: "The server starts afterwards" });
    if (way?.path) await choose(way.path);
    else if (way) await this.#installBy(way);
  }

  /** In a terminal, so that the user sees what is done. */
  async #installBy(way: Way): Promise<void> {
    const definition = { type: "agentls", command: way.label };
    const task = new vscode.Task(definition, vscode.TaskScope.Workspace, "Install agentls", "agentls", new vscode.ShellExecution(way.label));
    const started = vscode.tasks.executeTask(task);
    const ended = vscode.tasks.onDidEndTaskProcess(async (event) => { // listened to at once: it may end before it is known to have begun
      if (event.execution !== (await started)) return;
      ended.dispose();
      if (event.exitCode === 0) await this.run("restart");
    });
    try {
      await started;
    } catch (error) {
      ended.dispose();
      void vscode.window.showErrorMessage(`${way.label} could not be run: ${requestError(error).message}`);
    }
  }

  async #choosePath(): Promise<void> {
    const [file] = (await vscode.window.showOpenDialog({ title: "Where is agentls?", openLabel: "Use this program", canSelectMany: false })) ?? [];
    if (file) await choose(file.fsPath);
  }
}
