/** Waiting for a condition: the only way in which these tests wait. */
import { setTimeout as pause } from "node:timers/promises";

/** What is waited for may take so long, on two cores that others use too. */
export const PATIENCE = 60_000;

/** For a step that is tried again when it fails. */
export const MOMENT = 3000;

/** `what` names it, or is asked for its name when it never came. */
export async function until(what, condition, milliseconds = PATIENCE) {
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
    if (Date.now() > end) throw new Error(`never came, in ${milliseconds} ms: ${typeof what === "string" ? what : what()}`, { cause: last });
    await pause(30);
  }
}
