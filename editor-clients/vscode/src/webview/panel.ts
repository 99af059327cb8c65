/** The whole panel: takes up what the host says and gives each piece its share of a frame. */
import type { EventMessage, SessionMessage, StateMessage, ToWebview } from "../shared/messages";
import { SessionCopy, type StoreChange } from "../shared/store";
import { announce, announcer } from "./announce";
import { Asks } from "./dock/asks";
import { QueueList, TodoList } from "./dock/lists";
import { StatusLine } from "./dock/status";
import { h } from "./dom";
import { Frames } from "./frames";
import { Header } from "./header";
import { answered, failed, post, remember, request, taken } from "./host";
import type { LogContext } from "./log/context";
import { Ending, UnsentList } from "./log/ending";
import { Log } from "./log/log";
import { Composer } from "./prompt/composer";
import { Banners, Welcome } from "./welcome";
import { ENDINGS } from "./words";

export class Panel {
  readonly frames = new Frames(() => {
    this.log.scroller.after();
    this.keepFocus(document.activeElement);
  });
  private state: StateMessage | undefined;
  private copy: SessionCopy | undefined;
  private error: string | undefined;
  private readonly say = (words: string): void => { this.composer.say(words); };
  private readonly header = new Header();
  private readonly banners = new Banners();
  private readonly welcome = new Welcome();
  private readonly ending = new Ending();
  private readonly unsent = new UnsentList();
  private readonly asks = new Asks({
    leave: () => { this.composer.focus(); },
    folder: () => this.folder,
    giveBack: (text) => { this.composer.take({ type: "giveBack", draft: { text, chips: [] }, reason: "The question was settled before your words were sent; here they are." }); },
  });
  private readonly todos = new TodoList();
  private readonly queue = new QueueList(this.say);
  private readonly status = new StatusLine(this.say);
  private readonly composer = new Composer(() => { this.status.abort(); });
  private readonly log: Log;
  readonly elements: HTMLElement[];

  constructor() {
    this.log = new Log(this.context(), [this.unsent.element, this.ending.element, this.welcome.element]);
    const main = h(
      "main",
      { class: "main" },
      this.banners.element,
      h("div", { class: "log-frame" }, this.log.element, this.log.scroller.jump),
      h("div", { class: "dock" }, this.asks.element, this.todos.element, this.queue.element, this.status.element, this.composer.element),
      announcer(),
    );
    this.elements = [this.header.element, main];
  }

  private get folder(): string | undefined {
    return this.copy?.session?.directory ?? this.state?.folder?.path;
  }

  private context(): LogContext {
    return {
      frames: this.frames,
      folds: new Map(),
      copy: () => this.copy,
      say: this.say,
      showThoughts: () => this.state?.settings.showThoughts ?? false,
      asked: (partId) => [...(this.copy?.pending.values() ?? [])].some((ask) => ask.partId === partId),
      around: {
        folder: () => this.folder,
        follow: (target) => {
          if (target.kind === "web") post({ type: "link", href: target.href });
          else post({ type: "open", uri: target.uri, ...(target.range ? { range: target.range } : {}) });
        },
        copy: (text) => {
          post({ type: "copy", text });
          announce("Copied");
        },
      },
    };
  }

  take(message: ToWebview): void {
    switch (message.type) {
      case "state":
        this.state = message;
        this.soon();
        break;
      case "session":
        this.showSession(message);
        break;
      case "event":
        this.event(message);
        break;
      case "answer":
        answered(message.requestId, message.result);
        break;
      case "failed":
        failed(message.requestId, message.error);
        break;
      case "taken":
        taken(message.messageId);
        break;
      case "focus":
        if (message.on === "prompt") this.composer.focus();
        else this.asks.focus(message.on.askId);
        break;
      default:
        this.composer.take(message);
    }
  }

  private showSession(message: SessionMessage): void {
    this.error = message.error;
    if (message.sessionId !== this.copy?.id) {
      const id = message.sessionId;
      this.copy = id === undefined ? undefined : this.newCopy(id);
      this.log.show(this.copy);
      remember(id);
    }
    if (message.attach) this.copy?.attached(message.attach);
    this.soon();
  }

  private newCopy(id: string): SessionCopy {
    const copy: SessionCopy = new SessionCopy(
      id,
      (change) => { if (copy === this.copy) this.changed(change); },
      (partId) => {
        request("part/get", { partId }).then(
          ({ part }) => { copy.fetched(part); },
          () => { copy.fetchFailed(partId); },
        );
      },
    );
    return copy;
  }

  private event(message: EventMessage): void {
    this.copy?.notified(message.method, message.params);
    if (message.method === "turn/ended" && message.params.sessionId === this.copy?.id) this.announceEnd(message.params.stopReason);
  }

  private changed(change: StoreChange): void {
    this.log.changed(change);
    if (change.kind !== "append" && change.kind !== "part") this.soon();
  }

  /** The answer as a whole, and how the turn ended. */
  private announceEnd(stop: keyof typeof ENDINGS): void {
    const last = this.copy?.messagesInOrder().findLast(({ role }) => role === "assistant");
    const parts = last ? (this.copy?.partsOf(last.id) ?? []) : [];
    const answer = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    announce([ENDINGS[stop]?.said ?? "", answer].filter((one) => one !== "").join(". "));
  }

  private readonly work = (): boolean => {
    const { state, copy, error } = this;
    const focused = document.activeElement;
    this.header.show(state, copy);
    this.banners.show({ state, copy, error });
    this.welcome.show({ state, copy, error });
    this.ending.show(copy);
    this.unsent.show(state, (id) => copy?.messages.has(id) === true || copy?.queue.some(({ messageId }) => messageId === id) === true);
    this.asks.show(copy);
    this.todos.show(copy);
    this.queue.show(copy);
    this.status.show(copy);
    this.composer.show(state, copy);
    this.keepFocus(focused);
    return false;
  };

  /** Who works by keyboard is not left nowhere when what had the focus goes. */
  private keepFocus(before: Element | null): void {
    const elsewhere = document.activeElement !== before && document.activeElement !== document.body;
    if (before && !elsewhere && !before.checkVisibility()) this.composer.focus();
  }

  private soon(): void {
    this.frames.soon(this.work);
  }
}
