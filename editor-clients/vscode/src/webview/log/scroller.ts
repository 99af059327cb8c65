/** Keeps the end in sight while the user is there, and the place where the user reads otherwise. */
import { h } from "../dom";
import { icon } from "../icons";

const NEAR = 32; // pixels from the end that still count as the end

export class Scroller {
  readonly jump = h(
    "button",
    { class: "jump", type: "button", hidden: true, "aria-label": "Jump to the latest message", title: "Jump to the latest message", onclick: () => { this.toEnd(); this.after(); } },
    icon("arrowDown"),
  );
  private following = true;
  private held: { element: Element; top: number } | undefined;
  private top = 0;

  constructor(private readonly log: HTMLElement) {
    log.addEventListener("scroll", () => { this.scrolled(); }, { passive: true });
    new ResizeObserver(() => { this.after(); }).observe(log);
  }

  toEnd(): void {
    this.following = true;
  }

  /** What comes in next stands above this: it stays where it is. */
  hold(element: Element | null): void {
    this.held = element ? { element, top: element.getBoundingClientRect().top } : undefined;
  }

  /** After the frame's drawing. */
  after(): void {
    const { log, held } = this;
    if (held) {
      this.held = undefined;
      this.keep(held, 3);
    } else if (this.following) log.scrollTop = log.scrollHeight;
    this.top = log.scrollTop;
    this.jump.hidden = this.following || this.atEnd();
  }

  /** The sizes of what came in are guesses until they were drawn: it takes some frames until they are right. */
  private keep(held: { element: Element; top: number }, frames: number): void {
    this.log.scrollTop += held.element.getBoundingClientRect().top - held.top;
    if (frames > 0) requestAnimationFrame(() => { this.keep(held, frames - 1); });
  }

  private atEnd(): boolean {
    const { log } = this;
    return log.scrollHeight - log.scrollTop - log.clientHeight < NEAR;
  }

  /** Only scrolling up leaves the end: text that grows moves it too. */
  private scrolled(): void {
    if (this.atEnd()) this.following = true;
    else if (this.log.scrollTop < this.top - 1) this.following = false;
    this.top = this.log.scrollTop;
    this.jump.hidden = this.following;
  }
}
