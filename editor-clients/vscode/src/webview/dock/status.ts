/** One line above the prompt: what goes on, and the button that stops it. */
import type { SessionCopy } from "../../shared/store";
import { h, once, setText } from "../dom";
import { request, wordsOf } from "../host";
import { icon } from "../icons";

const WORKING = { busy: "Working", waiting: "Waits for you", compacting: "Summing up" } as const;

export class StatusLine {
  private readonly mark = h("span", { class: "status-mark" });
  private readonly words = h("span", { class: "status-words" });
  private readonly stop = h(
    "button",
    { class: "button secondary stop", type: "button", title: "Stop (Ctrl+Escape)", onclick: () => { this.abort(); } },
    icon("stop"),
    "Stop",
  );
  readonly element = h("div", { class: "status", hidden: true, "data-testid": "status" }, this.mark, this.words, this.stop);
  private clock: number | undefined;
  private copy: SessionCopy | undefined;
  private look = "";

  constructor(private readonly failed: (words: string) => void) {}

  show(copy: SessionCopy | undefined): void {
    this.copy = copy;
    const type = copy?.status.type ?? "idle";
    this.element.hidden = type === "idle" || copy?.owner !== undefined;
    if (type !== "retry") this.rest();
    if (type !== this.look) this.setLook(type);
    this.write();
    if (type === "retry") this.clock ??= window.setInterval(() => { this.write(); }, 250);
  }

  private setLook(type: SessionCopy["status"]["type"]): void {
    this.look = type;
    this.element.dataset.status = type;
    const marks = { retry: "retry", waiting: "question" } as const;
    this.mark.replaceChildren(type === "retry" || type === "waiting" ? icon(marks[type]) : h("span", { class: "spinner" }));
  }

  private rest(): void {
    window.clearInterval(this.clock);
    this.clock = undefined;
  }

  private write(): void {
    const status = this.copy?.status;
    if (!status || status.type === "idle") return;
    if (status.type !== "retry") {
      setText(this.words, WORKING[status.type]);
      return;
    }
    const left = Math.max(0, Math.ceil((status.nextAt - Date.now()) / 1000));
    setText(this.words, `${status.message} · attempt ${status.attempt} ${left > 0 ? `in ${left} s` : "now"}`);
  }

  abort(): void {
    if (!this.copy?.busy) return;
    void once(this.stop, () =>
      request("session/abort", { queue: "keep" }).catch((error: unknown) => { this.failed(`Not stopped: ${wordsOf(error)}`); }));
  }
}
