/** What is said to screen readers: whole answers and questions, not each delta. */
import { h } from "./dom";

const region = h("div", { class: "unseen", role: "status", "aria-live": "polite" });

export function announcer(): HTMLElement {
  return region;
}

export function announce(text: string): void {
  // A new element each time, so that the same words are said again.
  region.replaceChildren(h("p", {}, text.slice(0, 2000)));
}
