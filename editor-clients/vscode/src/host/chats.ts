/** The chats of this window: the one in the side bar, and those in editor tabs. */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { FromWebview, PageState, ToWebview } from "../shared/messages";
import { pageHtml } from "../shared/page";
import { Chat, putBack, SIDE_BAR, type ChatDeps } from "./chat";
import { oneLine } from "./plain";
import type { Notification } from "./server";
import { Tabs } from "./tabs";

export const VIEW = "agentls.chat";
const PANEL = "agentls.chatTab";

export interface ChatsDeps extends Omit<ChatDeps, "moved"> {
  extensionUri: vscode.Uri;
  received(chat: Chat, message: FromWebview): void;
  /** Another chat is the current one, or shows another session, or is seen or hidden. */
  changed(): void;
}

export class Chats implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer<PageState>, vscode.Disposable {
  readonly #open = new Map<Chat, vscode.WebviewView | vscode.WebviewPanel>();
  readonly #subscriptions: vscode.Disposable[];
  readonly #tabs: Tabs;
  #current: Chat | undefined;
  #awaited: ((chat: Chat) => void)[] = [];

  constructor(private readonly deps: ChatsDeps) {
    this.#tabs = new Tabs(deps.memory);
    this.#subscriptions = [
      vscode.window.registerWebviewViewProvider(VIEW, this, { webviewOptions: { retainContextWhenHidden: true } }),
      vscode.window.registerWebviewPanelSerializer(PANEL, this),
    ];
  }

  get all(): Chat[] {
    return [...this.#open.keys()];
  }

  /** The chat that the user was in last. */
  get current(): Chat | undefined {
    return this.#current ?? this.all[0];
  }

  byKey(key: string): Chat | undefined {
    return this.all.find((chat) => chat.key === key);
  }

  /** The current chat, shown; the one in the side bar if there is none. */
  async reveal(preserveFocus = false): Promise<Chat> {
    const chat = this.current;
    const place = chat && this.#open.get(chat);
    if (chat && place) {
      if ("reveal" in place) place.reveal(undefined, preserveFocus);
      else place.show(preserveFocus);
      return chat;
    }
    const opened = new Promise<Chat>((resolve) => this.#awaited.push(resolve));
    await vscode.commands.executeCommand(`${VIEW}.focus`, { preserveFocus });
    return opened;
  }

  /** A chat in an editor tab. */
  openTab(sessionId: string | undefined): Chat {
    const panel = vscode.window.createWebviewPanel(PANEL, "agentls", vscode.ViewColumn.Beside, { retainContextWhenHidden: true });
    return this.#adopt(panel, this.#tabs.named(sessionId), sessionId);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#adopt(view, SIDE_BAR, undefined);
  }

  deserializeWebviewPanel(panel: vscode.WebviewPanel, state: Partial<PageState> | undefined): Promise<void> {
    const key = this.#tabs.restored(state?.chat, (one) => this.byKey(one) !== undefined, state?.sessionId);
    this.#adopt(panel, key, state?.sessionId);
    return Promise.resolve();
  }

  notified(notification: Notification): void {
    for (const chat of this.#open.keys()) chat.notified(notification);
  }

  attachAll(): void {
    for (const chat of this.#open.keys()) void chat.attach();
  }

  tellAll(): void {
    for (const chat of this.#open.keys()) chat.tell();
  }

  /** Shows how many questions wait, at the view's icon. */
  badge(count: number): void {
    for (const place of this.#open.values()) {
      if ("badge" in place) place.badge = count === 0 ? undefined : { value: count, tooltip: count === 1 ? "1 question waits for you" : `${count} questions wait for you` };
    }
  }

  /** A tab bears the title of its session. */
  nameTabs(titleOf: (sessionId: string) => string): void {
    for (const [chat, place] of this.#open) {
      const title = chat.sessionId === undefined ? "" : oneLine(titleOf(chat.sessionId), 40);
      if ("reveal" in place) place.title = title === "" ? "agentls" : title;
    }
  }

  /** To the current chat, which is shown for it. */
  async post(message: ToWebview): Promise<void> {
    (await this.reveal()).postWhenReady(message);
  }

  /** Words that nobody took, into the current chat, which is shown for it. */
  giveBack(words: string, reason: string): void {
    const draft = { text: words, chips: [] };
    if (this.current) this.current.giveBack(draft, reason);
    else putBack(this.deps.memory, SIDE_BAR, draft);
    void this.reveal(true);
  }

  dispose(): void {
    for (const one of this.#subscriptions) one.dispose();
  }

  #adopt(place: vscode.WebviewView | vscode.WebviewPanel, key: string, sessionId: string | undefined): Chat {
    const { webview } = place;
    const chat = new Chat(key, webview, { ...this.deps, moved: () => { this.deps.changed(); } }, sessionId);
    this.#open.set(chat, place);
    const dist = vscode.Uri.joinPath(this.deps.extensionUri, "dist");
    webview.options = { enableScripts: true, localResourceRoots: [dist] };
    webview.onDidReceiveMessage((message: FromWebview) => {
      if (message.type !== "draft") this.#current = chat;
      this.deps.received(chat, message);
    });
    place.onDidDispose(() => {
      this.#close(chat);
    });
    this.#watch(place, chat);
    const address = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
    webview.html = pageHtml({ chat: key, script: address("webview.js"), style: address("webview.css"), source: webview.cspSource, nonce: randomBytes(18).toString("base64url") });
    this.#current = chat;
    for (const resolve of this.#awaited.splice(0)) resolve(chat);
    this.deps.changed();
    return chat;
  }

  #watch(place: vscode.WebviewView | vscode.WebviewPanel, chat: Chat): void {
    if (!("reveal" in place)) {
      place.onDidChangeVisibility(() => {
        this.deps.changed();
      });
      return;
    }
    place.onDidChangeViewState(() => {
      if (place.active) this.#current = chat;
      this.deps.changed();
    });
  }

  #close(chat: Chat): void {
    chat.close();
    this.#open.delete(chat);
    this.#tabs.closed(chat.key);
    if (this.#current === chat) this.#current = undefined;
    this.deps.changed();
  }
}
