/** Answers, thoughts and the small parts of a message. */
import type { CompactionPart, FilePart, ReasoningPart, SubtaskPart, TextPart } from "../../protocol";
import type { Part } from "../../shared/store";
import { h, oneLine, setAttribute, setText } from "../dom";
import { icon } from "../icons";
import { MarkdownView } from "../markdown/view";
import { duration } from "../words";
import type { LogContext, PartView } from "./context";

export class AnswerView implements PartView {
  private readonly view: MarkdownView;
  readonly element: HTMLElement;

  constructor(context: LogContext) {
    this.view = new MarkdownView(context.around);
    this.element = this.view.element;
  }

  update(part: Part): void {
    const { text, time } = part as TextPart;
    this.view.set(text);
    if (time?.end !== undefined) this.view.finish();
  }

  append(_field: string, delta: string): void {
    this.view.append(delta);
  }

  draw(deadline: number): boolean {
    return this.view.draw(deadline);
  }
}

/** A thought: one line that opens. */
export class ThoughtView implements PartView {
  private readonly title = h("span", { class: "thought-title" });
  private readonly last = h("span", { class: "thought-last" });
  private readonly head = h(
    "button",
    { class: "row-head thought-head", type: "button", "aria-expanded": "false" },
    icon("chevron", "row-chevron"),
    this.title,
    this.last,
  );
  readonly element = h("div", { class: "row thought" }, this.head);
  private body: MarkdownView | undefined;
  private grown = false;
  private part: ReasoningPart | undefined;

  constructor(private readonly context: LogContext) {
    this.head.addEventListener("click", () => {
      if (!this.part) return;
      context.folds.set(this.part.id, !this.open);
      this.refresh();
      context.frames.soon((deadline) => this.draw(deadline));
    });
  }

  private get open(): boolean {
    return this.part !== undefined && (this.context.folds.get(this.part.id) ?? this.context.showThoughts());
  }

  update(part: Part): void {
    this.part = part as ReasoningPart;
    this.refresh();
  }

  append(): void {
    this.grown = true;
  }

  private refresh(): void {
    this.grown = false;
    if (!this.part) return;
    const { time, text } = this.part;
    const done = time.end !== undefined;
    const took = duration(time);
    const finished = took === "" ? "Thought" : `Thought for ${took}`;
    setText(this.title, done ? finished : "Thinking");
    setText(this.last, done || this.open ? "" : lastLine(text));
    setAttribute(this.head, "aria-expanded", String(this.open));
    const body = this.unfolded();
    body?.set(text);
    if (done) body?.finish();
  }

  /** The body, which is there while the thought is open. */
  private unfolded(): MarkdownView | undefined {
    if (!this.open) {
      this.body?.element.remove();
      this.body = undefined;
    } else if (!this.body) {
      this.body = new MarkdownView(this.context.around);
      this.body.element.classList.add("row-body");
      this.element.append(this.body.element);
    }
    return this.body;
  }

  draw(deadline: number): boolean {
    if (this.grown) this.refresh();
    return this.body?.draw(deadline) ?? false;
  }
}

function lastLine(text: string): string {
  return oneLine(text.slice(-300).trimEnd().split("\n").at(-1) ?? "", 120);
}

/** A picture or file beside the words of a message. */
export function attachment(part: FilePart, context: LogContext): HTMLElement {
  const name = part.filename ?? part.url.slice(0, 200);
  if (part.mime.startsWith("image/") && part.url.startsWith("data:image/"))
    return h("img", { class: "picture", src: part.url, alt: part.filename ?? "Attached image" });
  return h(
    "button",
    {
      class: "chip",
      type: "button",
      title: name,
      "aria-label": `Open ${name}`,
      onclick: () => {
        if (part.url.startsWith("file://")) context.around.follow({ kind: "file", uri: part.url });
      },
    },
    icon("file"),
    h("span", { class: "chip-label" }, name),
  );
}

/** Parts that are one line each. */
export function note(part: SubtaskPart | CompactionPart): HTMLElement {
  if (part.type === "compaction")
    return h("div", { class: "divider" }, h("span", {}, "The conversation before this was summed up"));
  return h("div", { class: "row-head" }, icon("subtask"), h("span", { class: "row-name" }, part.agent), part.description);
}
