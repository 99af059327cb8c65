/** Work on the screen, done once a frame and in slices, so that typing and scrolling always come between. */

const SLICE = 8; // milliseconds of a frame

/** Does a slice of work until `deadline`; true if there is more. */
export type Work = (deadline: number) => boolean;

export class Frames {
  private readonly waiting = new Set<Work>();
  private asked = false;

  /** `after` runs once at the end of each frame in which there was work. */
  constructor(private readonly after: () => void) {}

  /** The same work asked for twice is done once. */
  soon(work: Work): void {
    this.waiting.add(work);
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.run();
    });
  }

  private run(): void {
    this.asked = false;
    const deadline = performance.now() + SLICE;
    const round = [...this.waiting];
    this.waiting.clear();
    for (const work of round) {
      const more = performance.now() < deadline ? work(deadline) : true;
      if (more) this.soon(work);
    }
    this.after();
  }
}
