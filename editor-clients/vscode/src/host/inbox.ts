/** What the webview wants. It speaks of the session that it shows alone, and only by the methods that are listed. */
import * as vscode from "vscode";
import type { ChangedFile, FileDiff, Requests, ToolPart } from "../protocol";
import { WEBVIEW_METHODS, type Failure, type FromWebview, type WebviewMethod, type WebviewRequest } from "../shared/messages";
import type { Asks } from "./asks";
import type { Chat } from "./chat";
import { diagnosticsChip, editorRange, fileChip, isText, selectionChip } from "./convert";
import type { Diffs } from "./diffs";
import type { Editor } from "./editor";
import { requestError } from "./failure";
import type { Pickers } from "./pickers";
import { isPermission } from "./queue";
import type { Remedies } from "./remedies";
import type { Sender } from "./sender";
import type { Server } from "./server";

export interface InboxDeps {
  server: Server;
  sender: Sender;
  asks: Asks;
  diffs: Diffs;
  editor: Editor;
  pickers: Pickers;
  remedies: Remedies;
  pickSession(chat: Chat): Promise<void>;
}

const FILES = 30;
const LINKS = new Set(["http", "https", "mailto"]);

function say(words: string): void {
  void vscode.window.showInformationMessage(words);
}

type Handlers = { [T in FromWebview["type"]]: (chat: Chat, message: Extract<FromWebview, { type: T }>) => unknown };

export class Inbox {
  constructor(private readonly deps: InboxDeps) {}

  async received(chat: Chat, message: FromWebview): Promise<void> {
    const take = this.#handlers[message.type] as (chat: Chat, message: FromWebview) => unknown;
    try {
      await take(chat, message);
    } catch (error) {
      void vscode.window.showErrorMessage(requestError(error).message);
    }
  }

  readonly #handlers: Handlers = {
    ready: (chat, { sending }) => {
      for (const sent of sending) void this.deps.sender.take(chat, sent); // before it is told what is typed
      chat.ready();
    },
    draft: (chat, { draft }) => { chat.draft = draft; },
    prompt: (chat, sent) => this.deps.sender.take(chat, sent),
    shell: (chat, sent) => this.deps.sender.take(chat, sent),
    command: (chat, sent) => this.deps.sender.take(chat, sent),
    request: (chat, message) => this.#request(chat, message),
    open: (_, { uri, range }) => open(uri, range),
    link: (_, { href }) => openLink(href),
    diff: (chat, message) => ("permissionId" in message ? this.#showAsked(message.permissionId) : this.#showDone(chat, message.partId)),
    copy: (_, { text }) => vscode.env.clipboard.writeText(text),
    attach: (chat, { what }) => { this.attach(chat, what); },
    pick: (chat, { what }) => this.#pick(chat, what),
    ask: (_, { askId }) => this.deps.asks.answer(askId),
    newSession: (chat) => { chat.show(undefined); },
    showSession: (chat, { sessionId }) => { chat.show(sessionId); },
    find: (chat, { query }) => this.#find(chat, query),
    remedy: (_, { remedy }) => this.deps.remedies.run(remedy),
  };

  /** Puts a chip of what the editor shows into the prompt. */
  attach(chat: Chat, what: "selection" | "diagnostics" | "activeFile"): void {
    const editor = this.deps.editor.current;
    if (editor === undefined) {
      say("No file is open in the editor.");
      return;
    }
    const { uri } = editor.document;
    const chip = what === "selection" ? selectionChip(editor) : what === "diagnostics" ? diagnosticsChip(uri) : fileChip(uri);
    if (chip) chat.postWhenReady({ type: "insert", chips: [chip], focus: true });
    else say(what === "selection" ? "Nothing is selected in the editor." : "The editor shows no problems in this file.");
  }

  async #request(chat: Chat, { requestId, method, params }: WebviewRequest): Promise<void> {
    try {
      const result = await this.#ask(chat, method, params);
      chat.post({ type: "answer", requestId, result });
      if (method === "session/fork") chat.show((result as Requests["session/fork"]["result"]).session.id);
    } catch (error) {
      const { message, kind }: Failure = requestError(error);
      chat.post({ type: "failed", requestId, error: { message, kind } });
    }
  }

  #ask(chat: Chat, method: WebviewMethod, params: WebviewRequest["params"]): Promise<unknown> {
    if (!WEBVIEW_METHODS.includes(method)) throw new Error(`The chat may not call ${method}.`);
    const { sessionId } = chat;
    if (sessionId === undefined) throw new Error("There is no session yet.");
    return this.deps.server.request(method, { ...params, sessionId });
  }

  async #showAsked(id: string): Promise<void> {
    const ask = this.deps.asks.queue.get(id);
    if (ask && isPermission(ask)) await this.deps.diffs.showAsked(ask, true);
    else say("That was settled already.");
  }

  async #showDone(chat: Chat, partId: string): Promise<void> {
    const { sessionId } = chat;
    if (sessionId === undefined) return;
    const { part } = await this.deps.server.request("part/get", { sessionId, partId });
    const files = part.type === "tool" ? changedBy(part) : [];
    if (files.length > 0) await this.deps.diffs.showDone(partId, files);
    else say("This step changed no file.");
  }

  async #pick(chat: Chat, what: Extract<FromWebview, { type: "pick" }>["what"]): Promise<void> {
    switch (what) {
      case "agent":
      case "model":
      case "mode":
        return this.deps.pickers[what](chat);
      case "session":
        return this.deps.pickSession(chat);
      case "folder":
        await vscode.commands.executeCommand("workbench.action.files.openFolder");
        return;
      case "file":
        return pickFiles(chat);
    }
  }

  async #find(chat: Chat, query: string): Promise<void> {
    const directory = this.deps.sender.directory(chat);
    if (directory === undefined || !this.deps.server.up) return;
    const { files } = await this.deps.server.request("file/find", { query, directory, limit: FILES });
    chat.post({ type: "files", query, files });
  }
}

/** What a tool says that it changed. */
export function changedBy({ state }: ToolPart): FileDiff[] {
  const metadata = "metadata" in state ? (state.metadata ?? {}) : {};
  const { uri, diff, files } = metadata as { uri?: unknown; diff?: unknown; files?: unknown };
  if (Array.isArray(files)) return (files as ChangedFile[]).filter((file) => typeof file.uri === "string" && typeof file.patch === "string");
  return typeof uri === "string" && typeof diff === "string" ? [{ uri, patch: diff }] : [];
}

async function pickFiles(chat: Chat): Promise<void> {
  const uris = await vscode.window.showOpenDialog({ title: "Files for the agent", openLabel: "Add to the prompt", canSelectMany: true });
  if (uris) chat.post({ type: "insert", chips: uris.map(fileChip), focus: true });
}

/** Files only: what an answer names may be anything. */
async function open(uri: string, range: Extract<FromWebview, { type: "open" }>["range"]): Promise<void> {
  const target = vscode.Uri.parse(uri);
  if (!isText(target)) {
    say(`Only files are opened, not ${uri}.`);
    return;
  }
  const where = range === undefined ? {} : { selection: editorRange(range) };
  await vscode.commands.executeCommand("vscode.open", target, { preview: true, ...where });
}

async function openLink(href: string): Promise<void> {
  const target = vscode.Uri.parse(href);
  if (LINKS.has(target.scheme)) await vscode.env.openExternal(target);
}
