/**
 * What outlives the window: drafts, what is not sent yet, what a chat shows. A file a key, written at each change: the
 * editor's own memory is written with a delay, and what was typed last would be lost with a window that ends abruptly.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

interface Change {
  key: string;
  value: unknown;
}

export class Memory {
  readonly #values = new Map<string, unknown>();
  /** Written in the order in which it was set: what moves from one key to another is at no moment under neither. */
  readonly #changes: Change[] = [];
  #writing: Promise<void> | undefined;

  /** `folder` is made if it is not there. `failed` hears once of each write that does not succeed. */
  constructor(
    private readonly folder: string,
    private readonly failed: (reason: string) => void,
  ) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      failed(String(error));
    }
  }

  /** What was written under a key in the form in which it was written; `none` if that cannot be read. */
  get<T>(key: string, none: T): T {
    if (!this.#values.has(key)) this.#values.set(key, this.#read(key));
    return (this.#values.get(key) as T | undefined) ?? none;
  }

  /** Without a value the key is forgotten. */
  set(key: string, value: unknown): void {
    this.#values.set(key, value);
    const last = this.#changes.at(-1);
    if (last?.key === key) last.value = value;
    else this.#changes.push({ key, value });
    this.#writing ??= this.#write();
  }

  /** Ends when all is written. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    for (let change = this.#changes.shift(); change; change = this.#changes.shift()) {
      try {
        await this.#put(this.#path(change.key), change.value);
      } catch (error) {
        this.failed(String(error));
      }
    }
    this.#writing = undefined;
  }

  async #put(path: string, value: unknown): Promise<void> {
    if (value === undefined) {
      await rm(path, { force: true });
      return;
    }
    await writeFile(`${path}.new`, JSON.stringify(value), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  #read(key: string): unknown {
    try {
      return JSON.parse(readFileSync(this.#path(key), "utf8")) as unknown;
    } catch {
      return undefined; // none yet, or half a file of a disk that was full
    }
  }

  #path(key: string): string {
    return join(this.folder, `${encodeURIComponent(key)}.json`);
  }
}
