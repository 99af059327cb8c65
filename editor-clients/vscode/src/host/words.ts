/** What was typed into the dialogs of permissions and questions and not sent, by question and by item in it. */
import type { Memory } from "./memory";

const KEY = "words";

type Kept = Record<string, Record<number, string>>;

export class Words {
  constructor(private readonly memory: Memory) {}

  get(ask: string, item: number): string {
    return this.#all[ask]?.[item] ?? "";
  }

  keep(ask: string, item: number, words: string): void {
    if (words !== this.get(ask, item)) this.#put({ ...this.#all, [ask]: { ...this.#all[ask], [item]: words } });
  }

  /** All of a question's, in the order of its items. They are not kept any more. */
  take(ask: string): string {
    const { [ask]: own, ...others } = this.#all;
    if (own === undefined) return "";
    this.#put(others);
    return Object.values(own).filter((words) => words.trim() !== "").join("\n");
  }

  /** The questions that words are kept for. */
  get asks(): string[] {
    return Object.keys(this.#all);
  }

  get #all(): Kept {
    return this.memory.get<Kept>(KEY, {});
  }

  #put(all: Kept): void {
    this.memory.set(KEY, Object.keys(all).length === 0 ? undefined : all);
  }
}
