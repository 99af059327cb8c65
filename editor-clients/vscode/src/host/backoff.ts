/** How long to wait before the server is started again, and when to give up. */

const PAUSES = [500, 1000, 2000, 4000, 8000];
const STABLE = 30_000;

export class Backoff {
  #crashes = 0;

  constructor(
    private readonly pauses: readonly number[] = PAUSES,
    private readonly stable = STABLE,
  ) {}

  /** Times in a row that the server ended by itself. */
  get crashes(): number {
    return this.#crashes;
  }

  /** The server ended after `ranFor` milliseconds. Absent: do not start it again. */
  crashed(ranFor: number): number | undefined {
    this.#crashes = ranFor > this.stable ? 1 : this.#crashes + 1;
    return this.pauses[this.#crashes - 1];
  }

  reset(): void {
    this.#crashes = 0;
  }
}
