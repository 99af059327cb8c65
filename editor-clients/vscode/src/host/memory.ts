/**
 * What outlives the window: drafts, what is not sent yet, what a chat shows. A file a key, written at each change: the
 * editor's own memory is written with a delay, and what was typed last would be lost with a window that ends abruptly.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

export class Memory {
  readonly #values = new Map<string, unknown>();
  readonly #writing = new Map<string, Promise<void>>();
  readonly #stale = new Set<string>();

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
    this.#stale.add(key);
    if (!this.#writing.has(key)) this.#writing.set(key, this.#write(key));
  }

  /** Ends when all is written. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing.values());
  }

  async #write(key: string): Promise<void> {
    const path = this.#path(key);
    try {
      while (this.#stale.delete(key)) {
        const value = this.#values.get(key);
        if (value === undefined) await rm(path, { force: true });
        else {
          await writeFile(`${path}.new`, JSON.stringify(value), { mode: 0o600 });
          await rename(`${path}.new`, path);
        }
      }
    } catch (error) {
      this.failed(String(error));
    } finally {
      this.#writing.delete(key);
    }
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
