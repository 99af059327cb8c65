/** A message with its parts. */
import type { AssistantMessage } from "../../protocol";
import { named } from "../../shared/hidden";
import type { Message, Part } from "../../shared/store";
import { h, reconcile, setText } from "../dom";
import { modelName } from "../words";
import type { LogContext, PartView } from "./context";
import { attachment, AnswerView, note, ThoughtView } from "./text";
import { ToolView } from "./tool";

const LONG = { lines: 16, characters: 1500 };

/** Parts with nothing to see. */
function seen(part: Part): boolean {
  if (part.type === "text") return part.synthetic !== true && (part.text !== "" || part.time?.end === undefined);
  if (part.type === "reasoning") return part.text.trim() !== "" || part.time.end === undefined;
  return ["tool", "file", "subtask", "compaction"].includes(part.type);
}

function viewOf(part: Part, context: LogContext): PartView {
  if (part.type === "text") return new AnswerView(context);
  if (part.type === "reasoning") return new ThoughtView(context);
  if (part.type === "tool") return new ToolView(part, context);
  const element = part.type === "file" ? attachment(part, context) : part.type === "subtask" || part.type === "compaction" ? note(part) : h("span");
  return { element, update: () => undefined };
}

export interface MessageView {
  readonly element: HTMLElement;
  /** Messages or parts came or went. `first`: the message before is of somebody else. */
  shape(message: Message, parts: readonly Part[], first: boolean): void;
  part(part: Part): void;
  append(part: Part, field: string, delta: string): void;
  draw(deadline: number): boolean;
}

export function messageView(message: Message, context: LogContext): MessageView {
  return message.role === "user" ? new UserView(context) : new AgentView(context);
}

class AgentView implements MessageView {
  private readonly title = h("h2", { class: "message-title" });
  readonly element = h("article", { class: "message agent", "data-testid": "answer" }, this.title);
  private readonly views = new Map<string, PartView>();
  private readonly waiting = new Set<PartView>();

  constructor(private readonly context: LogContext) {}

  shape(message: AssistantMessage, parts: readonly Part[], first: boolean): void {
    setText(this.title, `${message.agent} · ${modelName(message.model)}`);
    this.title.className = first ? "message-title" : "message-title unseen";
    this.element.classList.toggle("first", first);
    const shown = parts.filter(seen);
    const ids = new Set(shown.map((part) => part.id));
    for (const id of [...this.views.keys()]) if (!ids.has(id)) this.views.delete(id);
    reconcile(this.element, [this.title, ...shown.map((part) => this.viewFor(part).element)]);
    this.element.classList.toggle("empty", shown.length === 0);
  }

  private viewFor(part: Part): PartView {
    let view = this.views.get(part.id);
    if (!view) {
      view = viewOf(part, this.context);
      this.views.set(part.id, view);
    }
    view.update(part);
    this.waiting.add(view);
    return view;
  }

  part(part: Part): void {
    const view = this.views.get(part.id);
    if (!view) return;
    view.update(part);
    this.waiting.add(view);
  }

  append(part: Part, field: string, delta: string): void {
    const view = this.views.get(part.id);
    if (!view?.append) return;
    view.append(field, delta);
    this.waiting.add(view);
  }

  draw(deadline: number): boolean {
    for (const view of this.waiting) {
      if (performance.now() > deadline) return true;
      if (!view.draw?.(deadline)) this.waiting.delete(view);
    }
    return this.waiting.size > 0;
  }
}

/** The user's own words, as they were typed. */
class UserView implements MessageView {
  private readonly words = h("div", { class: "words" });
  private readonly things = h("div", { class: "chips" });
  readonly element = h("article", { class: "message user", "data-testid": "prompt" }, h("h2", { class: "unseen" }, "You"), this.words, this.things);
  private said: string | undefined;

  constructor(private readonly context: LogContext) {}

  shape(_message: Message, parts: readonly Part[]): void {
    const text = parts.map((part) => (part.type === "text" && part.synthetic !== true ? part.text : "")).filter((one) => one !== "").join("\n");
    if (text !== this.said) this.say(text);
    const files = parts.filter((part) => part.type === "file");
    const tools = parts.filter((part) => part.type === "compaction" || part.type === "subtask");
    this.things.replaceChildren(...files.map((part) => attachment(part, this.context)), ...tools.map(note));
    this.words.hidden = text === "";
    this.element.hidden = text === "" && this.things.childElementCount === 0; // only the server's own words, as after Continue
  }

  private say(text: string): void {
    this.said = text;
    const shown = userWords(text);
    this.words.replaceChildren(...shown);
  }

  part(): void {
    // A user's message is made whole: `shape` draws it.
  }

  append(): void {
    // The same.
  }

  draw(): boolean {
    return false;
  }
}

/** A prompt's text; a long one is folded. */
export function userWords(text: string): HTMLElement[] {
  const clean = named(text);
  const lines = clean.split("\n");
  if (lines.length <= LONG.lines && clean.length <= LONG.characters) return [h("p", {}, clean)];
  const start = lines.slice(0, LONG.lines).join("\n").slice(0, LONG.characters);
  const words = h("p", {}, `${start}…`);
  const button = h("button", { class: "link", type: "button", "aria-expanded": "false" }, "Show all");
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(open));
    setText(button, open ? "Show less" : "Show all");
    setText(words, open ? clean : `${start}…`);
  });
  return [words, button];
}
