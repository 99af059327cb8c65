/** Waiting for a condition: the only way in which these tests wait. */
import { setTimeout as pause } from "node:timers/promises";

export async function until(what, condition, milliseconds = 30_000) {
  const end = Date.now() + milliseconds;
  for (;;) {
    let last;
    try {
      const value = await condition();
      if (value) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`never came, in ${milliseconds} ms: ${what}`, { cause: last });
    await pause(30);
  }
}
