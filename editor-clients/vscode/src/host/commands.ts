/** The commands of the palette, the menus and the keys. */
import * as vscode from "vscode";
import type { Asks } from "./asks";
import type { Chats } from "./chats";
import { diagnosticsChip, fileChip, selectionChip } from "./convert";
import type { Diffs } from "./diffs";
import type { Editor } from "./editor";
import { requestError } from "./failure";
import { folderOf } from "./folders";
import { input, pick } from "./quick";
import type { Pickers } from "./pickers";
import type { Remedies } from "./remedies";
import type { Sender } from "./sender";
import type { Server } from "./server";
import { askTrust } from "./trust";

export interface CommandDeps {
  server: Server;
  chats: Chats;
  asks: Asks;
  diffs: Diffs;
  editor: Editor;
  sender: Sender;
  pickers: Pickers;
  remedies: Remedies;
  pickSession(): Promise<void>;
}

function say(words: string): void {
  void vscode.window.showInformationMessage(words);
}

/** Whatever goes wrong is said, not logged as an exception of the command. */
async function told(deed: () => unknown): Promise<void> {
  try {
    await deed();
  } catch (error) {
    void vscode.window.showErrorMessage(requestError(error).message);
  }
}

class Commands {
  constructor(private readonly deps: CommandDeps) {}

  async openChat(): Promise<void> {
    void this.deps.server.ready().catch(() => undefined); // why it is not there is told by the state
    await this.deps.chats.post({ type: "focus", on: "prompt" });
  }

  async startSession(): Promise<void> {
    (await this.deps.chats.reveal()).show(undefined);
    await this.openChat();
  }

  async openInEditor(): Promise<void> {
    this.deps.chats.openTab(this.deps.chats.current?.sessionId);
    await this.openChat();
  }

  async stop(): Promise<void> {
    const sessionId = this.deps.chats.current?.sessionId;
    if (sessionId === undefined || !this.deps.server.up) say("Nothing runs.");
    else await this.deps.server.request("session/abort", { sessionId });
  }

  async runShell(): Promise<void> {
    const command = await input({ title: "Run a command in the session", prompt: "It runs at once, as your own; the agent reads its output with the next prompt." });
    if (command) this.deps.sender.shell(await this.deps.chats.reveal(true), command);
  }

  /** The selection goes along, the question is the user's. */
  async addSelection(): Promise<void> {
    const editor = this.deps.editor.current;
    const chip = editor && selectionChip(editor);
    if (chip) await this.deps.chats.post({ type: "insert", chips: [chip], focus: true });
    else say("Select something in an editor first.");
  }

  async askAboutSelection(): Promise<void> {
    const editor = this.deps.editor.current;
    const chip = editor && selectionChip(editor);
    if (chip === undefined) return this.addSelection();
    const text = await input({ title: `Ask about ${chip.label}`, prompt: "Your question. Without one it is put into the chat, for you to go on there." });
    if (text === undefined) return undefined;
    if (text === "") return this.addSelection();
    return this.deps.sender.prompt(await this.deps.chats.reveal(true), { text, chips: [chip] }, "steer");
  }

  async addFile(uri?: vscode.Uri, uris?: vscode.Uri[]): Promise<void> {
    const own = this.deps.editor.current?.document.uri;
    const wanted = uris ?? [uri ?? own].filter((one) => one !== undefined);
    if (wanted.length === 0) say("No file is open in the editor.");
    else await this.deps.chats.post({ type: "insert", chips: wanted.map(fileChip), focus: true });
  }

  async fixDiagnostics(): Promise<void> {
    const editor = this.deps.editor.current;
    const chip = editor && diagnosticsChip(editor.document.uri);
    if (!chip) {
      say("The editor shows no problems in this file.");
      return;
    }
    await this.deps.sender.prompt(await this.deps.chats.reveal(true), { text: "Fix these problems.", chips: [chip] }, "steer");
  }

  async choose(what: "agent" | "model" | "mode"): Promise<void> {
    await this.deps.pickers[what](await this.deps.chats.reveal(true));
  }

  async trust(): Promise<void> {
    const folder = folderOf(this.deps.editor.current?.document.uri);
    if (folder === undefined) say("No folder is open.");
    else if (await askTrust(this.deps.server, folder.path)) say(`${folder.path} is trusted, with its settings as they are now.`);
  }

  /** Rules that an "always" left, to take one back. */
  async rules(): Promise<void> {
    const { server, chats } = this.deps;
    const sessionId = chats.current?.sessionId;
    const of = sessionId === undefined ? {} : { sessionId };
    const { rules } = await server.request("permission/rules", of);
    const choices = rules.map((rule) => ({ label: `${rule.action} ${rule.permission}: ${rule.pattern}`, description: rule.scope, value: rule }));
    if (choices.length === 0) say("No “always” has left a rule.");
    const rule = choices.length === 0 ? undefined : await pick(choices, { title: "Take back a rule" });
    if (rule) await server.request("permission/forget", { ...of, rule });
  }

  /** After the server failed: what happened, and what can be done. */
  async mend(): Promise<void> {
    const { reason, remedies, state } = this.deps.server.view;
    if (state === "failed") await this.deps.remedies.tell(reason ?? "agentls does not run.", remedies);
    else await this.openChat();
  }

  async answer(kind: "answer" | "once" | "always" | "reject", from?: unknown): Promise<void> {
    const id = typeof from === "string" ? from : this.deps.diffs.asked;
    await this.deps.asks.answer(id, id === undefined ? "answer" : kind); // nothing is allowed that is not on the screen
  }
}

export function registerCommands(deps: CommandDeps): vscode.Disposable[] {
  const commands = new Commands(deps);
  const table: Record<string, (...args: never[]) => unknown> = {
    openChat: () => commands.openChat(),
    startSession: () => commands.startSession(),
    openInEditor: () => commands.openInEditor(),
    sessions: () => deps.pickSession(),
    stop: () => commands.stop(),
    runShell: () => commands.runShell(),
    askAboutSelection: () => commands.askAboutSelection(),
    addSelection: () => commands.addSelection(),
    addFile: (uri?: vscode.Uri, uris?: vscode.Uri[]) => commands.addFile(uri, uris),
    fixDiagnostics: () => commands.fixDiagnostics(),
    chooseAgent: () => commands.choose("agent"),
    chooseModel: () => commands.choose("model"),
    chooseMode: () => commands.choose("mode"),
    trustFolder: () => commands.trust(),
    rules: () => commands.rules(),
    showLog: () => deps.remedies.log(),
    restartServer: () => deps.remedies.run("restart"),
    mend: () => commands.mend(),
    answer: (from?: unknown) => commands.answer("answer", from),
    allowOnce: (from?: unknown) => commands.answer("once", from),
    allowAlways: (from?: unknown) => commands.answer("always", from),
    reject: (from?: unknown) => commands.answer("reject", from),
  };
  return Object.entries(table).map(([name, deed]) => vscode.commands.registerCommand(`agentls.${name}`, (...args: never[]) => told(() => deed(...args))));
}
