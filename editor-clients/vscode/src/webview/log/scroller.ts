/** Keeps the end in sight while the user is there, and the place where the user reads otherwise. */
import { h } from "../dom";
import { icon } from "../icons";

const NEAR = 32; // pixels from the end that still count as the end
const HOLD = 1500; // milliseconds for which a place is held

export class Scroller {
  readonly jump = h(
    "button",
    { class: "jump", type: "button", hidden: true, "aria-label": "Jump to the latest message", title: "Jump to the latest message", onclick: () => { this.log.focus({ preventScroll: true }); this.toEnd(); this.after(); } },
    icon("arrowDown"),
  );
  private following = true;
  private held: { element: Element; top: number; until: number } | undefined;
  private top = 0;

  constructor(private readonly log: HTMLElement) {
    log.addEventListener("scroll", () => { this.scrolled(); }, { passive: true });
    for (const name of ["wheel", "keydown", "pointerdown"]) log.addEventListener(name, () => { this.held = undefined; }, { passive: true });
    new ResizeObserver(() => { this.after(); }).observe(log);
  }

  toEnd(): void {
    this.held = undefined;
    this.following = true;
  }

  /** What comes in next stands above this: it stays where it is, until the user scrolls or all is drawn. */
  hold(element: Element | null): void {
    const wasHeld = this.held !== undefined;
    this.held = element ? { element, top: element.getBoundingClientRect().top, until: performance.now() + HOLD } : undefined;
    if (!wasHeld) this.keep();
  }

  /** The sizes of what came in are guesses until they are drawn: it takes some frames until they are right. */
  private readonly keep = (): void => {
    const { held } = this;
    if (!held) return;
    this.log.scrollTop += held.element.getBoundingClientRect().top - held.top;
    if (performance.now() > held.until) this.held = undefined;
    else requestAnimationFrame(this.keep);
  };

  /** After the frame's drawing. */
  after(): void {
    const { log } = this;
    if (this.following && !this.held) log.scrollTop = log.scrollHeight;
    this.top = log.scrollTop;
    this.jump.hidden = this.following || this.atEnd();
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
