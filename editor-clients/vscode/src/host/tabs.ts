/** The names under which chats in editor tabs keep what is typed in them. */
import { randomBytes } from "node:crypto";
import type { Draft } from "../shared/messages";
import { chosenOf, draftOf, shownOf } from "./chat";
import type { Memory } from "./memory";

const FORM = /^tab-[0-9a-f]{12}$/;
/** Closed tabs in which words were left. */
const LEFT = "left";

export class Tabs {
  constructor(private readonly memory: Memory) {}

  /** For a new tab: the name of a closed one of the same session in which words were left, else a new name. */
  named(sessionId: string | undefined): string {
    const found = this.#left.find((key) => this.memory.get<string | undefined>(shownOf(key), undefined) === sessionId);
    return this.#opened(found ?? `tab-${randomBytes(6).toString("hex")}`, sessionId);
  }

  /** For a tab that the editor brings back: the name that its page had. */
  restored(name: unknown, taken: (key: string) => boolean, sessionId: string | undefined): string {
    const own = typeof name === "string" && FORM.test(name) && !taken(name);
    return own ? this.#opened(name, sessionId) : this.named(sessionId);
  }

  /** The user has closed it. What was typed in it waits for the next tab of its session; without that it is forgotten. */
  closed(key: string): void {
    if (!FORM.test(key)) return;
    if (this.memory.get<Draft | undefined>(draftOf(key), undefined) !== undefined) {
      this.#left = [...this.#left, key];
      return;
    }
    for (const one of [shownOf(key), chosenOf(key)]) this.memory.set(one, undefined);
  }

  #opened(key: string, sessionId: string | undefined): string {
    this.#left = this.#left.filter((one) => one !== key);
    this.memory.set(shownOf(key), sessionId);
    return key;
  }

  get #left(): string[] {
    return this.memory.get<string[]>(LEFT, []);
  }

  set #left(keys: string[]) {
    if (keys.length !== this.#left.length) this.memory.set(LEFT, keys.length === 0 ? undefined : keys);
  }
}
