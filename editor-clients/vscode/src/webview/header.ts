/** The line above the conversation: the session's title, how full the model's window is, other sessions, a new one. */
import type { Session } from "../protocol";
import type { StateMessage } from "../shared/messages";
import type { SessionCopy } from "../shared/store";
import { h, setAttribute, setText } from "./dom";
import { post } from "./host";
import { icon } from "./icons";

export class Header {
  private readonly title = h("h1", { class: "title" });
  private readonly where = h("button", { class: "quiet where", type: "button", hidden: true, title: "Choose the folder", onclick: () => { post({ type: "pick", what: "folder" }); } });
  private readonly usage = h("span", { class: "usage", hidden: true });
  readonly element = h(
    "header",
    { class: "header" },
    this.title,
    this.where,
    this.usage,
    button("sessions", "Sessions", () => { post({ type: "pick", what: "session" }); }),
    button("add", "New session", () => { post({ type: "newSession" }); }),
  );

  show(state: StateMessage | undefined, copy: SessionCopy | undefined): void {
    const session = copy?.session;
    setText(this.title, titleOf(session));
    setAttribute(this.title, "title", titleOf(session));
    this.where.hidden = session !== undefined || !state || state.folders.length < 2;
    setText(this.where, state?.folder?.name ?? "No folder");
    this.showUsage(copy);
  }

  private showUsage(copy: SessionCopy | undefined): void {
    const share = copy?.context;
    this.usage.hidden = share === undefined;
    if (share === undefined) return;
    const percent = Math.round(share * 100);
    const cost = copy?.usage?.cost;
    setText(this.usage, `${percent}%`);
    const spent = cost === undefined ? "" : `, $${cost.toFixed(cost < 1 ? 3 : 2)} so far`;
    setAttribute(this.usage, "title", `${percent}% of the model's window is used${spent}`);
    this.usage.classList.toggle("full", share > 0.8);
  }
}

function titleOf(session: Session | undefined): string {
  return session === undefined || session.title === "" ? "New session" : session.title;
}

function button(name: "sessions" | "add", words: string, does: () => void): HTMLElement {
  return h("button", { class: "icon-button", type: "button", title: words, "aria-label": words, onclick: does }, icon(name));
}
