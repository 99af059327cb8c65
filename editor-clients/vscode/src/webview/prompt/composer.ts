/** Where the user writes: text, chips, what stands after `@`, sending. */
import { messageId } from "../../shared/ids";
import type { Chip, Draft, Sent, StateMessage, ToWebview } from "../../shared/messages";
import type { SessionCopy } from "../../shared/store";
import { h, setAttribute, setText } from "../dom";
import { post, send, wordsOf } from "../host";
import { icon } from "../icons";
import { added, chipRow, isMention, stillNamed } from "./chips";
import { Completion } from "./completion";
import { History } from "./history";
import { Offers } from "./offers";
import { pictureChip, picturesOf } from "./paste";
import { Pickers } from "./pickers";

/** What Enter does. */
const WAYS = {
  send: { name: "Send", hint: "" },
  shell: { name: "Run the command", hint: "Runs in the folder, without the agent" },
  steer: { name: "Steer: say it now, while the agent works", hint: "Enter steers the agent now · Alt+Enter queues" },
} as const;

type ForPrompt = Extract<ToWebview, { type: "draft" | "insert" | "giveBack" | "files" }>;

const DRAFT_MS = 150; // from one saving of the draft to the next, while one types

export class Composer {
  readonly input = h("textarea", {
    class: "prompt-input", rows: 1, "aria-label": "Prompt", placeholder: "Ask, or say what to do. @ attaches, ! runs a command.", "data-testid": "input", spellcheck: "true",
  });
  private readonly chipList = h("ul", { class: "chips prompt-chips", "aria-label": "Attached", hidden: true });
  private readonly hint = h("div", { class: "prompt-hint", hidden: true });
  private readonly problem = h("div", { class: "prompt-problem", role: "alert", hidden: true });
  private readonly sendLabel = h("span", { class: "unseen" }, "Send");
  private readonly send = h("button", { class: "icon-button send", type: "submit", title: "Send (Enter)" }, icon("arrowUp"), this.sendLabel);
  private readonly queue = h("button", { class: "icon-button", type: "button", title: "Queue: send when this turn is over (Alt+Enter)", "aria-label": "Queue: send when this turn is over", hidden: true }, icon("queue"));
  private readonly pickers = new Pickers();
  private readonly completion = new Completion(this.input);
  private readonly offers: Offers;
  private readonly history: History;
  private readonly box: HTMLElement;
  readonly element: HTMLFormElement;
  private chips: Chip[] = [];
  private state: StateMessage | undefined;
  private copy: SessionCopy | undefined;
  private saving: number | undefined;
  private unsaved = false;

  /** `stop` is what Ctrl+Escape does. */
  constructor(private readonly stop: () => void) {
    const at = h("button", { class: "icon-button", type: "button", title: "Attach a file, the selection or diagnostics (@)", "aria-label": "Attach a file, the selection or diagnostics" }, icon("at"));
    at.addEventListener("click", () => { this.typeSign(); });
    this.box = h("div", { class: "prompt-box" }, this.chipList, this.input,
      h("div", { class: "prompt-bar" }, at, this.pickers.element, h("span", { class: "spacer" }), this.queue, this.send));
    this.element = h("form", { class: "prompt", "aria-label": "Write a prompt" }, this.completion.element, this.problem, this.box, this.hint);
    this.history = new History(() => this.ownPrompts());
    this.offers = new Offers(this.input, this.completion, {
      commands: () => this.state?.commands ?? [],
      chip: (chip) => { this.chips = added(this.chips, [chip]); },
      changed: () => { this.typed(); },
    });
    this.listen();
  }

  show(state: StateMessage | undefined, copy: SessionCopy | undefined): void {
    this.state = state;
    this.copy = copy;
    this.pickers.show(state, copy);
    this.refresh();
  }

  /** What the host says to the prompt. */
  take(message: ForPrompt): void {
    if (message.type === "draft") this.restore(message.draft);
    else if (message.type === "giveBack") this.giveBack(message.draft, message.reason);
    else if (message.type === "files") this.offers.files(message.query, message.files);
    else {
      this.insert(message.text, message.chips);
      if (message.focus) this.focus();
    }
  }

  /** What was typed before a reload; what has been typed since stays behind it. */
  private restore(draft: Draft): void {
    if (this.input.value === "" && this.chips.length === 0) this.set(draft.text, draft.chips);
    else if (draft.text !== this.input.value) this.giveBack(draft);
  }

  /** Puts what could not be sent before what was typed meanwhile. */
  private giveBack(draft: Draft, reason?: string): void {
    const text = [draft.text, this.input.value].filter((one) => one !== "").join("\n");
    this.set(text, added(draft.chips, this.chips));
    if (reason !== undefined) this.say(reason);
  }

  private insert(text: string | undefined, chips: Chip[]): void {
    this.chips = added(this.chips, chips);
    if (text !== undefined && text !== "") {
      const gap = this.input.value === "" || /\s$/.test(this.input.value) ? "" : " ";
      this.input.value += gap + text;
    }
    this.typed();
  }

  focus(): void {
    this.input.focus();
  }

  /** Something for the person to know, until the next key. */
  say(words: string): void {
    this.problem.hidden = false;
    setText(this.problem, words);
  }

  private listen(): void {
    this.input.addEventListener("input", () => {
      this.history.leave();
      this.typed();
      this.offers.look();
    });
    this.input.addEventListener("keydown", (event) => { this.key(event); });
    this.input.addEventListener("click", () => { this.offers.look(); });
    this.input.addEventListener("blur", () => {
      this.completion.hide();
      this.save();
    });
    this.input.addEventListener("paste", (event) => { this.paste(event); });
    document.addEventListener("visibilitychange", () => { this.save(); });
    this.queue.addEventListener("click", () => { this.submit("queue"); });
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit("steer");
    });
    this.box.addEventListener("mousedown", (event) => {
      if (event.target !== this.box) return;
      event.preventDefault();
      this.focus();
    });
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing || this.completion.key(event)) return;
    if (event.key === "Enter") this.enter(event);
    else if (event.key === "Escape" && (event.ctrlKey || event.metaKey)) this.stop();
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") this.walk(event);
  }

  private enter(event: KeyboardEvent): void {
    const strong = event.ctrlKey || event.metaKey;
    const sends = this.state?.settings.enterSends !== false;
    if (event.shiftKey || (!sends && !strong && !event.altKey)) return;
    event.preventDefault();
    this.submit(event.altKey ? "queue" : "steer");
  }

  /** Up in the first line and down in the last walk through the session's prompts. */
  private walk(event: KeyboardEvent): void {
    if (modified(event)) return;
    const { value, selectionStart: start, selectionEnd: end } = this.input;
    const up = event.key === "ArrowUp";
    const beyond = up ? value.slice(0, start) : value.slice(end);
    if (start !== end || beyond.includes("\n")) return;
    const text = up ? this.history.back(value) : this.history.forward();
    if (text === undefined) return;
    event.preventDefault();
    this.input.value = text;
    const caret = up ? 0 : text.length;
    this.input.setSelectionRange(caret, caret);
    this.typed();
  }

  private ownPrompts(): string[] {
    const { copy } = this;
    const messages = copy?.messagesInOrder().filter(({ role }) => role === "user") ?? [];
    return messages
      .map(({ id }) => (copy?.partsOf(id) ?? []).map((part) => (part.type === "text" && part.synthetic !== true ? part.text : "")).join(""))
      .filter((text, index, all) => text !== "" && text !== all[index - 1]);
  }

  private submit(delivery: "steer" | "queue"): void {
    const text = this.input.value.trim();
    if (text === "" && this.chips.length === 0) return;
    if (this.copy?.owner) {
      this.say("Not sent: another process runs this session. End it there, or begin a new session.");
      return;
    }
    const message = this.meant(text, delivery);
    send(message);
    this.history.leave();
    this.set("", message.type === "shell" ? this.chips : []); // a command line takes none along
    this.save();
  }

  /** `!` begins a shell command, `/` a command of the folder; all else is a prompt. */
  private meant(text: string, delivery: "steer" | "queue"): Sent {
    const { chips } = this;
    const id = { messageId: messageId() };
    if (text.startsWith("!") && text.length > 1) return { ...id, type: "shell", command: text.slice(1).trim() };
    const [, command = "", rest = ""] = /^\/(\S+)\s*([^]*)$/.exec(text) ?? [];
    if (this.state?.commands.some(({ name }) => name === command)) return { ...id, type: "command", command, arguments: rest, chips };
    return { ...id, type: "prompt", draft: { text, chips }, delivery };
  }

  private set(text: string, chips: Chip[]): void {
    this.input.value = text;
    this.chips = chips;
    this.typed();
  }

  private typed(): void {
    this.chips = stillNamed(this.chips, this.input.value);
    this.problem.hidden = true;
    this.refresh();
    this.unsaved = true;
    if (this.saving === undefined) this.saveOften();
  }

  /** At once, and then again and again while one types on: a page may be replaced at any moment. */
  private saveOften(): void {
    this.save();
    this.saving = window.setTimeout(() => {
      this.saving = undefined;
      if (this.unsaved) this.saveOften();
    }, DRAFT_MS);
  }

  private save(): void {
    if (!this.unsaved) return;
    this.unsaved = false;
    post({ type: "draft", draft: { text: this.input.value, chips: this.chips } });
  }

  private refresh(): void {
    this.chipList.replaceChildren(...chipRow(this.chips, (chip) => { this.remove(chip); }));
    this.chipList.hidden = this.chips.length === 0;
    const empty = this.input.value.trim() === "" && this.chips.length === 0;
    const shell = this.input.value.startsWith("!");
    const way = shell ? "shell" : this.copy?.busy === true ? "steer" : "send";
    const key = this.state?.settings.enterSends === false ? "Ctrl+Enter" : "Enter";
    const { name, hint } = WAYS[way];
    setAttribute(this.send, "aria-disabled", empty ? "true" : undefined);
    setText(this.sendLabel, name);
    setAttribute(this.send, "title", `${name} (${key})`);
    this.queue.hidden = way !== "steer";
    this.hint.hidden = empty || hint === "";
    setText(this.hint, hint.replace("Enter", key));
    this.box.classList.toggle("shell", shell);
  }

  private remove(chip: Chip): void {
    this.chips = this.chips.filter((one) => one !== chip);
    if (isMention(chip)) this.input.value = this.input.value.replaceAll(chip.label, chip.label.slice(1));
    this.typed();
    this.focus();
  }

  private typeSign(): void {
    const { value, selectionStart: at } = this.input;
    const gap = at > 0 && !/\s/.test(value.charAt(at - 1)) ? " " : "";
    this.input.focus();
    this.input.setRangeText(`${gap}@`, at, this.input.selectionEnd, "end");
    this.typed();
    this.offers.look();
  }

  private paste(event: ClipboardEvent): void {
    const pictures = picturesOf(event.clipboardData);
    if (pictures.length === 0) return;
    event.preventDefault();
    for (const file of pictures)
      pictureChip(file).then(
        (chip) => { this.insert(undefined, [chip]); },
        (error: unknown) => { this.say(wordsOf(error)); },
      );
  }
}

function modified(event: KeyboardEvent): boolean {
  return event.shiftKey || event.altKey || event.ctrlKey || event.metaKey;
}
