/** What the rows of the conversation need from the panel. */
import type { Part, SessionCopy } from "../../shared/store";
import type { Frames } from "../frames";
import type { Surroundings } from "../markdown/render";

export interface LogContext {
  around: Surroundings;
  frames: Frames;
  /** The session that is shown. */
  copy: () => SessionCopy | undefined;
  /** Tells the person what did not work. */
  say: (words: string) => void;
  showThoughts: () => boolean;
  /** Whether a question of the part's waits for the user. */
  asked: (partId: string) => boolean;
  /** Parts that the user opened or closed. */
  folds: Map<string, boolean>;
}

/** A part on the screen. */
export interface PartView {
  readonly element: HTMLElement;
  update(part: Part): void;
  /** Text was added to the part; what was not drawn yet is drawn by `draw`. */
  append?(field: string, delta: string): void;
  /** Draws until the deadline; true if there is more. */
  draw?(deadline: number): boolean;
}
