/** The card of a permission: what is to be done, and the answers with what each of them stores. */
import type { AskOption, Permission, PermissionReplyParams } from "../../protocol";
import { named } from "../../shared/hidden";
import { bare, count, countsLabel, diffLines } from "../diff";
import { h, setText } from "../dom";
import { post, request } from "../host";
import { icon } from "../icons";
import { visible } from "../visible";
import { pathOfUri, shortPath } from "../words";
import { Answering } from "./answering";
import type { Card } from "./asks";

const DIFF_LINES = 200;
let numbers = 0;

type Scope = "session" | "project";

export class PermissionCard implements Card {
  readonly element: HTMLElement;
  readonly first: HTMLButtonElement;
  private readonly answering = new Answering(() => this.element);
  private readonly panel = h("div", { class: "card-panel", hidden: true });
  private readonly words = h("textarea", { class: "field", rows: 2, placeholder: "What should the agent do instead?", "aria-label": "What should the agent do instead?" });
  private readonly rejection: HTMLElement[];
  private open: "always" | "reject" | undefined;
  private readonly toggles: Record<"always" | "reject", HTMLButtonElement>;

  constructor(
    private readonly ask: Permission,
    private readonly folder: string | undefined,
  ) {
    const title = `permission-${++numbers}`;
    this.first = h("button", { class: "button", type: "button", onclick: () => { this.reply({ reply: "once" }); } }, "Allow once");
    this.toggles = {
      always: this.toggle("always", "Always allow…"),
      reject: this.toggle("reject", "Reject…"),
    };
    this.rejection = this.rejectPanel();
    const always = this.option("always");
    this.element = h(
      "section",
      { class: "card permission", role: "group", tabindex: -1, "aria-labelledby": title, "data-testid": "card" },
      h("h2", { class: "card-title", id: title }, icon("shield"), h("span", {}, named(said(ask) ? "Run this command?" : ask.title))),
      ask.description === undefined ? null : h("p", { class: "card-description" }, named(ask.description)),
      this.deed(),
      h("div", { class: "card-actions" }, this.first, always ? this.toggles.always : null, this.toggles.reject),
      this.panel,
      this.answering.problem,
    );
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.open) return;
      const button = this.toggles[this.open];
      this.unfold(undefined);
      button.focus();
      event.stopPropagation();
    });
  }

  get unsent(): string {
    return this.answering.taken ? "" : this.words.value.trim();
  }

  private option(kind: AskOption["kind"]): AskOption | undefined {
    return this.ask.options.find((option) => option.kind === kind);
  }

  private toggle(kind: "always" | "reject", words: string): HTMLButtonElement {
    return h(
      "button",
      { class: "button secondary", type: "button", "aria-expanded": "false", onclick: () => { this.unfold(this.open === kind ? undefined : kind); } },
      words,
    );
  }

  /** Command, address or diff. */
  private deed(): HTMLElement {
    const { command, cwd, url, files } = this.ask.metadata;
    const box = h("div", { class: "card-deed" });
    if (command !== undefined) box.append(h("pre", { class: "command", tabindex: 0, role: "group", "aria-label": "Command" }, h("code", {}, visible(command))));
    if (cwd !== undefined) box.append(h("div", { class: "card-where" }, "in ", visible(cwd === this.folder ? "the session's folder" : cwd)));
    if (url !== undefined) box.append(h("pre", { class: "command" }, visible(url)));
    for (const file of files ?? []) {
      box.append(h("div", { class: "card-file" }, icon("file"), h("span", { class: "card-path" }, visible(shortPath(pathOfUri(file.uri), this.folder))), countsLabel(count(file.patch))));
      if (bare(file.patch) !== "") box.append(diffLines(file.patch, DIFF_LINES));
    }
    if (files !== undefined && files.length > 0)
      box.append(h("button", { class: "link", type: "button", onclick: () => { post({ type: "diff", permissionId: this.ask.permissionId }); } }, "Open diff in the editor"));
    return box;
  }

  private unfold(kind: "always" | "reject" | undefined): void {
    this.open = kind;
    for (const name of ["always", "reject"] as const) this.toggles[name].setAttribute("aria-expanded", String(kind === name));
    this.panel.hidden = kind === undefined;
    this.element.classList.toggle("unfolded", kind !== undefined);
    if (kind === undefined) return;
    this.panel.replaceChildren(...(kind === "always" ? this.alwaysPanel() : this.rejection));
    this.panel.querySelector<HTMLElement>("textarea, button")?.focus();
    this.panel.scrollIntoView({ block: "nearest" });
  }

  /** What would be stored, and for how long. */
  private alwaysPanel(): HTMLElement[] {
    const option = this.option("always");
    const offered = option?.patterns ?? [];
    const chosen = new Set(offered);
    const rules = offered.map((pattern) => this.rule(pattern, chosen, offered.length > 1));
    const store = (scope: Scope): void => {
      const patterns = offered.filter((pattern) => chosen.has(pattern));
      if (patterns.length === 0) this.answering.say("Nothing is chosen that could be stored.");
      else this.reply({ reply: "always", scope, patterns });
    };
    const scopes: [Scope, string][] = [["session", "In this session"], ["project", "In this project"]];
    const buttons = scopes
      .filter(([scope]) => scope === "session" || (option?.scope ?? []).includes(scope))
      .map(([scope, words], index) => h("button", { class: index === 0 ? "button" : "button secondary", type: "button", onclick: () => { store(scope); } }, words));
    return [
      h("div", { class: "hint" }, "From now on allowed without asking:"),
      h("div", { class: "rules" }, ...rules),
      h("div", { class: "card-actions" }, ...buttons),
    ];
  }

  private rule(pattern: string, chosen: Set<string>, many: boolean): HTMLElement {
    const words = h("code", {}, `${this.ask.permission}: `, visible(pattern));
    if (!many) return h("div", { class: "rule" }, words);
    const box = h("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(pattern);
      else chosen.delete(pattern);
    });
    return h("label", { class: "rule" }, box, words);
  }

  private rejectPanel(): HTMLElement[] {
    const { words } = this;
    const button = h("button", { class: "button", type: "button" }, "Reject and stop");
    const send = (): void => {
      const message = words.value.trim();
      this.reply(message === "" ? { reply: "reject" } : { reply: "reject", message });
    };
    words.addEventListener("input", () => { setText(button, words.value.trim() === "" ? "Reject and stop" : "Reject and tell the agent"); });
    words.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      send();
    });
    button.addEventListener("click", send);
    return [words, h("div", { class: "card-actions" }, button, h("span", { class: "hint" }, "With words the agent goes on, without them the turn stops."))];
  }

  private reply(answer: Omit<PermissionReplyParams, "permissionId">): void {
    this.answering.send(request("permission/reply", { permissionId: this.ask.permissionId, ...answer }));
  }
}

/** Whether the title only says the command again. */
function said(ask: Permission): boolean {
  return ask.metadata.command !== undefined && ask.title === ask.metadata.command;
}
