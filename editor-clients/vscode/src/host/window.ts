/** One window: what hears of what. */
import * as vscode from "vscode";
import type { NoticeParams, Problem } from "../protocol";
import type { StateMessage } from "../shared/messages";
import { Asks } from "./asks";
import { Catalog } from "./catalog";
import type { Chat } from "./chat";
import { Chats } from "./chats";
import { registerCommands } from "./commands";
import { Diffs } from "./diffs";
import { Editor } from "./editor";
import { requestError } from "./failure";
import { folderFor, folders, trusted } from "./folders";
import { Inbox } from "./inbox";
import { Memory } from "./memory";
import { notice } from "./notice";
import { Pickers } from "./pickers";
import { Remedies } from "./remedies";
import { Sender, unavailable } from "./sender";
import { Server, type Launch, type Notification } from "./server";
import { SessionPicker } from "./sessionpicker";
import { Sessions } from "./sessions";
import { settings } from "./settings";
import { StatusItem } from "./status";
import { surroundings } from "./surroundings";
import { askTrust, passOn } from "./trust";

export class Window implements vscode.Disposable {
  readonly #channel = vscode.window.createOutputChannel("agentls", { log: true });
  readonly #editor = new Editor();
  readonly #diffs = new Diffs();
  readonly #status = new StatusItem();
  readonly server = new Server(this.#launch());
  readonly #sessions = new Sessions(this.server);
  readonly #catalog = new Catalog(this.server);
  readonly #memory: Memory;
  readonly #remedies: Remedies;
  readonly #asks: Asks;
  readonly #sender: Sender;
  readonly #pickers: Pickers;
  readonly #chats: Chats;
  readonly #subscriptions: vscode.Disposable[];
  #problems: readonly Problem[] = [];
  #waiting = false;

  constructor(context: vscode.ExtensionContext) {
    const { server } = this;
    const [sessions, catalog, editor, diffs] = [this.#sessions, this.#catalog, this.#editor, this.#diffs];
    const kept = (context.storageUri ?? context.globalStorageUri).fsPath;
    const memory = new Memory(kept, (reason) => { this.#channel.error(`What is typed cannot be kept over a reload: ${reason}`); });
    this.#memory = memory;
    const trust = (directory: string) => askTrust(server, directory);
    const readme = vscode.Uri.joinPath(context.extensionUri, "README.md");
    this.#remedies = new Remedies({ server, channel: this.#channel, readme, trust: async () => { await trust(folders()[0]?.path ?? ""); } });
    this.#asks = new Asks({
      server,
      sessions,
      diffs,
      current: () => this.#chats.current?.sessionId,
      dialogs: () => settings().permissionDialog === "dialog",
      showInChat: (ask) => void this.#showAsk(ask.rootSessionId, "permissionId" in ask ? ask.permissionId : ask.questionId),
      memory,
      giveBack: (words) => { this.#chats.giveBack(words, "The question was settled before your words were sent; here they are."); },
    });
    this.#sender = new Sender({ server, sessions, editor, memory, trust, chat: (key) => this.#chats.byKey(key) ?? this.#chats.current, changed: () => { this.#tell(); } });
    this.#pickers = new Pickers({ server, sessions, catalog, directory: (chat) => this.#sender.directory(chat) });
    const inbox = new Inbox({ server, sender: this.#sender, asks: this.#asks, diffs, editor, pickers: this.#pickers, remedies: this.#remedies, pickSession: (chat) => this.#pickSession(chat) });
    this.#chats = new Chats({
      server,
      memory,
      extensionUri: context.extensionUri,
      state: (chat) => this.#state(chat),
      received: (chat, message) => void inbox.received(chat, message),
      changed: () => { this.#tell(); },
    });
    this.#subscriptions = this.#listen();
  }

  /** Starts what need not wait for the user. */
  begin(): void {
    this.#tell();
    if (settings().autostart) void this.server.ready().catch(() => undefined); // the state tells
  }

  async stop(): Promise<void> {
    await Promise.all([this.server.stop(), this.#memory.settled()]);
  }

  dispose(): void {
    for (const one of this.#subscriptions) one.dispose();
    for (const one of [this.#asks, this.#chats, this.#diffs, this.#editor, this.#sessions, this.#catalog, this.#status, this.server, this.#channel]) one.dispose();
  }

  #launch(): Launch {
    return {
      surroundings,
      cwd: () => folders()[0]?.path,
      env: () => settings().env,
      client: () => {
        const word = trusted();
        const options = { settings: settings().settings, ...(word === undefined ? {} : { trusted: word }) };
        return { channel: this.#channel, options, handlers: this.#editor.handlers };
      },
    };
  }

  #listen(): vscode.Disposable[] {
    const { server } = this;
    const tell = () => { this.#tell(); };
    return [
      server.onState(() => void this.#moved()),
      server.onNotification((notification) => { this.#notified(notification); }),
      this.#sessions.onChange(tell),
      this.#catalog.onChange(tell),
      this.#asks.onChange(tell),
      vscode.window.onDidChangeActiveTextEditor(tell),
      vscode.workspace.onDidChangeWorkspaceFolders(() => { this.#catalog.forget(); this.#refresh(); }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void passOn(server).then(() => { this.#catalog.forget(); })),
      vscode.workspace.onDidChangeConfiguration((event) => { this.#configured(event); }),
      ...registerCommands({
        server,
        chats: this.#chats,
        asks: this.#asks,
        diffs: this.#diffs,
        editor: this.#editor,
        sender: this.#sender,
        pickers: this.#pickers,
        remedies: this.#remedies,
        pickSession: () => this.#pickSession(),
      }),
    ];
  }

  #notified(notification: Notification): void {
    const { method, params } = notification;
    this.#sessions.notified(notification);
    this.#chats.notified(notification);
    if (method.startsWith("permission/") || method.startsWith("question/")) void this.#asks.notified(notification);
    else if (method === "notice") notice(params as NoticeParams);
    else if (method === "server/status") {
      this.#problems = (params as Notification<"server/status">["params"]).problems;
      this.#tell();
    }
  }

  async #moved(): Promise<void> {
    const { view } = this.server;
    this.#tell();
    if (view.state === "up") {
      this.#chats.attachAll();
      this.#sender.outbox.pumpAll();
      this.#catalog.forget();
      this.#refresh();
      return;
    }
    this.#sessions.idle();
    if (view.state !== "failed") return;
    this.#sender.outbox.giveUp(unavailable(view.reason));
    await this.#remedies.tell(view.reason ?? "agentls does not run.", view.remedies);
  }

  /** What the server knows, after it was started. */
  #refresh(): void {
    if (!this.server.up) return;
    const both = [this.#sessions.refresh(), this.#asks.refresh(), this.server.request("server/status", {}).then(({ problems }) => { this.#problems = problems; })];
    void Promise.all(both).then(
      () => { this.#tell(); },
      (error: unknown) => { this.#channel.warn(`What the server knows could not be read: ${requestError(error).message}`); },
    );
  }

  #configured(event: vscode.ConfigurationChangeEvent): void {
    if (event.affectsConfiguration("agentls.path") || event.affectsConfiguration("agentls.env")) void this.#remedies.run("restart");
    else if (event.affectsConfiguration("agentls.settings")) {
      this.server.configure(settings().settings);
      this.#catalog.forget();
    } else if (event.affectsConfiguration("agentls")) this.#tell();
  }

  async #showAsk(sessionId: string, askId: string): Promise<void> {
    const chat = await this.#chats.reveal();
    chat.show(sessionId);
    chat.postWhenReady({ type: "focus", on: { askId } });
  }

  /** In a chat, or in the current one, which is shown for it. */
  async #pickSession(chat?: Chat): Promise<void> {
    await this.server.ready();
    const picked = await SessionPicker.pick(this.server, this.#sessions);
    if (picked?.tab) this.#chats.openTab(picked.sessionId);
    else if (picked) (chat ?? (await this.#chats.reveal())).show(picked.sessionId);
  }

  /** Tells everything that shows something of the state. */
  #tell(): void {
    const { current } = this.#chats;
    const asks = this.#asks.queue.list().length;
    const session = current?.sessionId === undefined ? undefined : this.#sessions.get(current.sessionId);
    const others = this.#sessions.list().filter(({ id }) => id !== session?.id && this.#sessions.status(id) === "busy").length;
    const status = session ? this.#sessions.status(session.id) : "idle";
    const mode = session?.mode ?? current?.chosen.mode ?? "ask";
    this.#status.tell({ server: this.server.view, status, mode, asks, others, problems: this.#problems });
    this.#chats.badge(asks);
    this.#chats.tellAll();
    this.#chats.nameTabs((id) => this.#sessions.get(id)?.title ?? "");
    if (this.#waiting !== asks > 0) void vscode.commands.executeCommand("setContext", "agentls.waiting", asks > 0);
    this.#waiting = asks > 0;
  }

  #state(chat: Chat): StateMessage {
    const directory = this.#sender.directory(chat);
    const folder = directory === undefined ? undefined : folderFor(directory);
    const { enterSends, showThoughts } = settings();
    return {
      type: "state",
      server: this.server.view,
      ...(folder ? { folder } : {}),
      folders: folders(),
      trusted: trusted() ?? true,
      ...this.#catalog.of(folder?.path),
      sessions: this.#sessions.list().map((session) => ({ session, status: this.#sessions.status(session.id), asks: this.#asks.queue.of(session.id).length })),
      unsent: this.#sender.outbox.of(chat.key),
      chosen: chat.chosen,
      settings: { enterSends, showThoughts },
    };
  }
}
