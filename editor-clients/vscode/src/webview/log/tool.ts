/** A call of a tool: one line that says what and how it went, and opens. */
import type { ToolPart } from "../../protocol";
import { named } from "../../shared/hidden";
import { textOf, type Part } from "../../shared/store";
import { count, countsLabel, diffLines } from "../diff";
import { h, oneLine, setAttribute, setText } from "../dom";
import { post, request, wordsOf } from "../host";
import { icon, type IconName } from "../icons";
import { visible } from "../visible";
import { duration, subject, toolIcon, toolName, uriOfPath } from "../words";
import type { LogContext, PartView } from "./context";
import { lastLines, LIVE_LINES, OPEN_LINES, outputBox } from "./output";

const DIFF_LINES = 400;

type Look = "pending" | "running" | "completed" | "error" | "stopped" | "asked";

const LOOKS: Record<Look, { icon: IconName; said: string }> = {
  pending: { icon: "pending", said: "being prepared" },
  running: { icon: "pending", said: "running" },
  completed: { icon: "check", said: "done" },
  error: { icon: "error", said: "failed" },
  stopped: { icon: "stopped", said: "stopped" },
  asked: { icon: "question", said: "waits for your answer" },
};

export class ToolView implements PartView {
  private readonly state = h("span", { class: "row-state" });
  private readonly said = h("span", { class: "unseen" });
  private readonly subject = h("span", { class: "row-subject" });
  private readonly counts = h("span", { class: "row-counts" });
  private readonly took = h("span", { class: "row-took" });
  private readonly head: HTMLButtonElement;
  private readonly stop: HTMLButtonElement;
  private readonly live = h("pre", { class: "live", hidden: true });
  private readonly problem = h("div", { class: "row-problem", hidden: true });
  readonly element: HTMLElement;
  private body: HTMLElement | undefined;
  private look: Look | undefined;
  private drawn: ToolPart["state"] | undefined;
  /** Whether there is output that was not drawn, and when it may be. */
  private grown = false;
  private next = 0;

  constructor(
    private part: ToolPart,
    private readonly context: LogContext,
  ) {
    this.head = h(
      "button",
      { class: "row-head", type: "button", "aria-expanded": "false", onclick: () => { this.toggle(); } },
      icon("chevron", "row-chevron"),
      icon(toolIcon(part.tool), "row-icon"),
      h("span", { class: "row-name" }, toolName(part.tool)),
      this.subject,
      this.counts,
      this.took,
      this.state,
      this.said,
    );
    this.stop = h(
      "button",
      { class: "icon-button row-stop", type: "button", "aria-label": "Stop this tool", title: "Stop this tool", hidden: true },
      icon("stop"),
    );
    this.stop.addEventListener("click", () => {
      request("tool/cancel", { partId: this.part.id }).catch((error: unknown) => { context.say(`Not stopped: ${wordsOf(error)}`); });
    });
    const line = h("div", { class: "row-line" }, this.head, this.stop);
    this.element = h(
      "div",
      { class: "row tool", "data-testid": "tool", "data-tool": part.tool },
      line, this.live, this.problem,
    );
  }

  update(part: Part): void {
    this.part = part as ToolPart;
    this.refresh();
  }

  append(): void {
    this.grown = true;
  }

  /** Output that floods in is drawn so seldom that drawing it takes a small share of the time. */
  draw(): boolean {
    const now = performance.now();
    if (this.grown && now >= this.next) {
      this.refresh();
      this.next = performance.now() + Math.max(50, (performance.now() - now) * 6);
    }
    return this.grown;
  }

  private get opened(): boolean {
    return this.context.folds.get(this.part.id) ?? false;
  }

  private toggle(): void {
    this.context.folds.set(this.part.id, !this.opened);
    this.refresh();
  }

  private lookNow(): Look {
    const { state } = this.part;
    if (state.status === "error") return state.metadata?.interrupted === true ? "stopped" : "error";
    return state.status !== "completed" && this.context.asked(this.part.id) ? "asked" : state.status;
  }

  private refresh(): void {
    this.grown = false;
    const look = this.lookNow();
    if (look !== this.look) this.setLook(look);
    const { state } = this.part;
    if (this.drawn !== state) {
      const words = subject(this.part, this.context.around.folder());
      if (this.subject.textContent !== words) this.subject.replaceChildren(visible(words));
      setText(this.took, duration("time" in state ? state.time : undefined));
      this.counts.replaceChildren(...(this.patch ? [countsLabel(count(this.patch))] : []));
    }
    this.refreshLive(look);
    this.refreshProblem(look);
    this.refreshBody();
    this.drawn = state;
  }

  private setLook(look: Look): void {
    this.look = look;
    this.element.dataset.status = look;
    this.state.replaceChildren(look === "running" ? h("span", { class: "spinner" }) : icon(LOOKS[look].icon));
    setText(this.said, `, ${LOOKS[look].said}`);
    this.stop.hidden = look !== "running";
  }

  private refreshLive(look: Look): void {
    const text = look === "running" && !this.opened ? lastLines(textOf(this.part, "output"), LIVE_LINES, 4000) : "";
    this.live.hidden = text === "";
    setText(this.live, text);
  }

  private refreshProblem(look: Look): void {
    const { state } = this.part;
    const words = state.status === "error" && !this.opened && look === "error" ? oneLine(state.error, 240) : "";
    const asked = look === "asked" ? "Waits for your answer below" : "";
    this.problem.hidden = words === "" && asked === "";
    setText(this.problem, named(words || asked));
  }

  private get patch(): string | undefined {
    const { state } = this.part;
    const metadata = "metadata" in state ? state.metadata : undefined;
    return typeof metadata?.diff === "string" ? metadata.diff : undefined;
  }

  /** The body is made when it is opened; while the tool runs only its output changes. */
  private refreshBody(): void {
    setAttribute(this.head, "aria-expanded", this.opened ? "true" : "false");
    if (!this.opened) {
      this.body?.remove();
      this.body = undefined;
      return;
    }
    const running = this.part.state.status === "running";
    const live = this.body?.querySelector(".output-live");
    if (running && live) setText(live, this.output);
    else if (!this.body || this.drawn !== this.part.state) {
      const body = this.makeBody();
      if (this.body) this.body.replaceWith(body);
      else this.element.append(body);
      this.body = body;
    }
  }

  private get output(): string {
    return lastLines(textOf(this.part, "output"), OPEN_LINES, 32_000);
  }

  private makeBody(): HTMLElement {
    const { state, tool } = this.part;
    const body = h("div", { class: "row-body" });
    const input: Record<string, unknown> = state.input;
    if (tool === "bash" && typeof input.command === "string")
      body.append(h("pre", { class: "command" }, h("code", {}, visible(input.command))));
    if (this.patch) body.append(diffLines(this.patch, DIFF_LINES));
    if (state.status === "pending") body.append(h("pre", { class: "output" }, lastLines(state.raw, 40, 8000)));
    else if (state.status === "running")
      body.append(h("pre", { class: "output output-live", tabindex: 0, role: "group", "aria-label": "Output" }, this.output));
    else if (state.status === "error") body.append(outputBox(state.error, "Error"));
    else if (!this.patch) body.append(outputBox(state.output, "Output"), ...pictures(state.attachments ?? []));
    const actions = this.actions(input);
    if (actions.length > 0) body.append(h("div", { class: "row-actions" }, ...actions));
    return body;
  }

  private actions(input: Record<string, unknown>): HTMLElement[] {
    const list: HTMLElement[] = [];
    const { state, id } = this.part;
    const metadata = "metadata" in state ? state.metadata : undefined;
    const path = metadata?.path ?? input.filePath;
    if (this.patch) list.push(action("Open diff", () => { post({ type: "diff", partId: id }); }));
    if (typeof path === "string" && path.startsWith("/")) {
      const uri = uriOfPath(path);
      list.push(action("Open file", () => { post({ type: "open", uri }); }));
    }
    return list;
  }
}

/** The pictures that a tool brought. */
function pictures(attachments: Record<string, unknown>[]): HTMLElement[] {
  const urls = attachments.map(({ url }) => url).filter((url): url is string => typeof url === "string" && url.startsWith("data:image/"));
  return urls.map((src) => h("img", { class: "picture", src, alt: "Picture that the tool read" }));
}

function action(words: string, does: () => void): HTMLElement {
  return h("button", { class: "link", type: "button", onclick: does }, words);
}
