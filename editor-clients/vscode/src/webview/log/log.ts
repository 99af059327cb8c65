/** The conversation: its newest messages, drawn as changes come; older ones when they are asked for. */
import type { Message, Part, SessionCopy, StoreChange } from "../../shared/store";
import { h, reconcile } from "../dom";
import { request, wordsOf } from "../host";
import { icon } from "../icons";
import type { LogContext } from "./context";
import { messageView, type MessageView } from "./message";
import { Scroller } from "./scroller";

const WINDOW = 60; // messages shown at first
const PAGE = 50; // messages added by "Show earlier"

export class Log {
  private readonly list = h("div", { class: "messages" });
  private readonly earlier = h(
    "button",
    { class: "quiet earlier", type: "button", hidden: true, onclick: () => { this.showEarlier(); } },
    icon("arrowUp"),
    "Show earlier messages",
  );
  readonly element: HTMLElement;
  readonly scroller: Scroller;
  private readonly views = new Map<string, MessageView>();
  private readonly waiting = new Set<MessageView>();
  private copy: SessionCopy | undefined;
  private shown = WINDOW;
  /** Messages whose parts are to be looked at anew; `all` of them. */
  private readonly dirty = new Set<string>();
  private all = true;
  private readonly loading = { page: false };

  /** `tail` stands below the messages. */
  constructor(
    private readonly context: LogContext,
    tail: HTMLElement[],
  ) {
    this.element = h(
      "div",
      { class: "log", role: "log", "aria-live": "off", "aria-label": "Conversation", tabindex: 0, "data-testid": "log" },
      this.earlier,
      this.list,
      ...tail,
    );
    this.scroller = new Scroller(this.element);
  }

  /** Another session, or none. */
  show(copy: SessionCopy | undefined): void {
    this.copy = copy;
    this.views.clear();
    this.waiting.clear();
    this.list.replaceChildren();
    this.shown = WINDOW;
    this.loading.page = false;
    this.all = true;
    this.scroller.toEnd();
    this.soon();
  }

  changed(change: StoreChange): void {
    switch (change.kind) {
      case "all":
      case "pending":
        this.all = true;
        break;
      case "shape":
      case "message":
        if (change.id === undefined) this.all = true;
        else this.dirty.add(change.id);
        break;
      case "part":
        this.partChanged(change.id);
        break;
      case "append":
        this.appended(change.id, change.field, change.delta);
        break;
      default:
        return;
    }
    this.soon();
  }

  private partChanged(id: string): void {
    const part = this.copy?.parts.get(id);
    const view = part && this.views.get(part.messageId);
    if (!part || !view) return;
    if (this.copy?.messages.get(part.messageId)?.role === "user" || hides(part)) this.dirty.add(part.messageId);
    else view.part(part);
    this.waiting.add(view);
  }

  private appended(id: string, field: string, delta: string): void {
    const part = this.copy?.parts.get(id);
    const view = part && this.views.get(part.messageId);
    if (!part || !view) return;
    // A message that is looked at anew in this frame takes up the whole text.
    if (!this.all && !this.dirty.has(part.messageId)) view.append(part, field, delta);
    this.waiting.add(view);
  }

  private readonly work = (deadline: number): boolean => {
    if (this.all || this.dirty.size > 0) this.makeList();
    for (const view of this.waiting) {
      if (performance.now() > deadline) return true;
      if (!view.draw(deadline)) this.waiting.delete(view);
    }
    return this.waiting.size > 0;
  };

  private soon(): void {
    this.context.frames.soon(this.work);
  }

  private makeList(): void {
    const { copy } = this;
    const all = copy?.messagesInOrder() ?? [];
    const from = Math.max(0, all.length - this.shown);
    const messages = all.slice(from);
    const ids = new Set(messages.map(({ id }) => id));
    for (const id of [...this.views.keys()]) if (!ids.has(id)) this.views.delete(id);
    const elements = messages.map((message, index) => this.shaped(message, all[from + index - 1]));
    reconcile(this.list, elements);
    this.all = false;
    this.dirty.clear();
    this.earlier.hidden = from === 0 && copy?.nextCursor === undefined;
  }

  private shaped(message: Message, before: Message | undefined): HTMLElement {
    let view = this.views.get(message.id);
    if (view && !this.all && !this.dirty.has(message.id)) return view.element;
    if (!view) {
      view = messageView(message, this.context);
      this.views.set(message.id, view);
    }
    view.shape(message, this.copy?.partsOf(message.id) ?? [], !goesOn(message, before));
    this.waiting.add(view);
    return view.element;
  }

  /** Messages that are here already, else an older page. */
  private showEarlier(): void {
    const { copy } = this;
    if (!copy || this.loading.page) return;
    this.scroller.hold(this.list.firstElementChild);
    this.shown += PAGE;
    this.all = true;
    this.soon();
    if (this.shown <= copy.messages.size || copy.nextCursor === undefined) return;
    this.loading.page = true;
    request("session/messages", { before: copy.nextCursor, limit: PAGE })
      .then((page) => {
        if (this.copy !== copy) return;
        this.scroller.hold(this.list.firstElementChild);
        copy.paged(page);
      })
      .catch((error: unknown) => { this.context.say(`Earlier messages could not be loaded: ${wordsOf(error)}`); })
      .finally(() => { this.loading.page = false; });
  }
}

/** Whether a message is said by the one who said the message before. */
function goesOn(message: Message, before: Message | undefined): boolean {
  if (before?.role !== "assistant" || message.role === "user") return false;
  return before.agent === message.agent && before.model.modelId === message.model.modelId;
}

/** A text that ended without a word is not shown any more. */
function hides(part: Part): boolean {
  return (part.type === "text" && part.text === "") || (part.type === "reasoning" && part.text.trim() === "");
}
