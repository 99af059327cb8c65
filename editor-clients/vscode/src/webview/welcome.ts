/** What stands in place of a conversation: a welcome, or why there is none and what can be done. */
import type { Remedy, SessionRow, StateMessage } from "../shared/messages";
import type { SessionCopy } from "../shared/store";
import { h } from "./dom";
import { post } from "./host";
import { icon, type IconName } from "./icons";
import { ago } from "./words";

const REMEDIES: Record<Remedy, string> = {
  install: "Install agentls",
  restart: "Restart the server",
  choosePath: "Choose the program…",
  log: "Show the log",
  readme: "Read how",
  trust: "Trust this folder…",
};

const RECENT = 5;

export interface Situation {
  state: StateMessage | undefined;
  copy: SessionCopy | undefined;
  /** Why the session could not be opened. */
  error: string | undefined;
}

function remedyButtons(remedies: readonly Remedy[]): HTMLElement[] {
  return remedies.map((remedy, index) =>
    h("button", { class: index === 0 ? "button" : "button secondary", type: "button", onclick: () => { post({ type: "remedy", remedy }); } }, REMEDIES[remedy]));
}

export class Welcome {
  readonly element = h("div", { class: "welcome", hidden: true });
  private drawn = "";

  show({ state, copy }: Situation): void {
    this.element.hidden = !state || talks(state, copy);
    if (!state || this.element.hidden) return;
    const rows = state.sessions.filter(({ session }) => session.id !== copy?.id).slice(0, RECENT);
    const key = JSON.stringify([state.folder?.path, rows.map(({ session, status, asks }) => [session.id, session.title, status, asks])]);
    if (key === this.drawn) return;
    this.drawn = key;
    this.element.replaceChildren(...content(state, rows));
  }
}

function talks(state: StateMessage, copy: SessionCopy | undefined): boolean {
  return state.unsent.length > 0 || (copy !== undefined && (copy.messages.size > 0 || copy.busy));
}

function content(state: StateMessage, rows: SessionRow[]): HTMLElement[] {
  const where = state.folder ? `Works in ${state.folder.name}. ` : "Open a folder first: the agent works in it. ";
  const list: HTMLElement[] = [
    h("div", { class: "welcome-head" }, logo(), h("p", { class: "welcome-title" }, "What should be done?"), h("p", { class: "hint" }, `${where}It asks before it runs or changes anything, unless you allow it.`)),
    h("ul", { class: "welcome-hints" }, tip("at", "@", "attaches a file, the selection or diagnostics"), tip("terminal", "!", "runs a command of yours"), tip("queue", "Alt+Enter", "queues while the agent works")),
  ];
  if (rows.length > 0)
    list.push(h("section", { class: "recent", "aria-label": "Recent sessions" }, h("h2", { class: "recent-title" }, "Recent"), ...rows.map(recentRow)));
  return list;
}

function tip(name: IconName, key: string, words: string): HTMLElement {
  return h("li", {}, icon(name), h("span", {}, h("kbd", {}, key), ` ${words}`));
}

function recentRow({ session, status, asks }: SessionRow): HTMLElement {
  const doing = asks > 0 ? "waits for you" : status === "idle" ? ago(session.time.updated, Date.now()) : "working";
  return h(
    "button",
    { class: "recent-row", type: "button", onclick: () => { post({ type: "showSession", sessionId: session.id }); } },
    h("span", { class: "recent-name" }, session.title === "" ? "New session" : session.title),
    h("span", { class: asks > 0 ? "recent-time waits" : "recent-time" }, doing),
  );
}

function logo(): HTMLElement {
  return h("div", { class: "logo", "aria-hidden": "true" }, icon("logo"));
}

/** Lines above the conversation that say what is wrong; the same one is not said twice. */
export class Banners {
  readonly element = h("div", { class: "banners" });
  private drawn = "";

  show(situation: Situation): void {
    const list = banners(situation);
    const key = JSON.stringify(list);
    if (key === this.drawn) return;
    this.drawn = key;
    this.element.replaceChildren(
      ...list.map(({ look, words, remedies }) =>
        h("div", { class: `banner ${look}`, role: look === "bad" ? "alert" : "status", "data-testid": "banner" }, icon(look === "bad" ? "error" : look === "busy" ? "retry" : "warning"), h("div", { class: "banner-words" }, words), remedies.length > 0 ? h("div", { class: "banner-actions" }, ...remedyButtons(remedies)) : null)),
    );
  }
}

interface Banner {
  look: "bad" | "warn" | "busy";
  words: string;
  remedies: Remedy[];
}

function banners({ state, copy, error }: Situation): Banner[] {
  const list: Banner[] = state ? serverBanners(state.server) : [];
  if (error !== undefined) list.push({ look: "bad", words: `The session could not be opened: ${error}`, remedies: [] });
  if (copy?.owner) list.push({ look: "warn", words: `Process ${copy.owner.pid} runs this session: here it can only be read.`, remedies: [] });
  if (state?.trusted === false && state.server.state === "up" && state.folder)
    list.push({ look: "warn", words: "You have not trusted this folder: what its settings say does not count.", remedies: ["trust"] });
  return list;
}

function serverBanners({ state, reason, remedies }: StateMessage["server"]): Banner[] {
  switch (state) {
    case "failed":
      return [{ look: "bad", words: reason ?? "The agent server does not run.", remedies }];
    case "down":
      return [{ look: "warn", words: reason ?? "The agent server stopped and is started again.", remedies }];
    case "starting":
      return [{ look: "busy", words: reason ?? "The agent server starts…", remedies: [] }];
    case "up":
      return [];
  }
}
