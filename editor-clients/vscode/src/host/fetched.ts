/** Values that are fetched by key and kept. What was on its way when all was forgotten is not kept when it comes. */

export class Fetched<T> {
  readonly #kept = new Map<string, T>();
  readonly #asked = new Set<string>();
  #age = 0;

  constructor(private readonly read: (key: string) => Promise<T>) {}

  /** The last that is known, also when it was forgotten: it shows until the new one is there. */
  last(key: string): T | undefined {
    return this.#kept.get(key);
  }

  /** Whether it was asked for since all was forgotten, and has come or is on its way. */
  isAsked(key: string): boolean {
    return this.#asked.has(key);
  }

  /** Rejects as the reading does. */
  async fetch(key: string): Promise<T> {
    const age = this.#age;
    this.#asked.add(key);
    try {
      const value = await this.read(key);
      if (age !== this.#age) return await this.fetch(key);
      this.#kept.set(key, value);
      return value;
    } catch (error) {
      if (age === this.#age) this.#asked.delete(key);
      throw error;
    }
  }

  forget(): void {
    this.#age += 1;
    this.#asked.clear();
  }
}
