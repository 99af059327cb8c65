/** Sending the answer of a card: its buttons rest meanwhile, and what went wrong is said in it. */
import { h } from "../dom";
import { RequestError } from "../host";

export class Answering {
  readonly problem = h("div", { class: "card-problem", role: "alert", hidden: true });

  constructor(private readonly card: () => HTMLElement) {}

  /** The card goes away with the notification that settles it, not before. */
  send(answer: Promise<unknown>): void {
    this.rest(true);
    this.problem.hidden = true;
    answer.catch((error: unknown) => {
      this.rest(false);
      const words = error instanceof Error ? error.message : String(error);
      const gone = error instanceof RequestError && error.failure.kind === "gone";
      this.say(gone ? "The server is not there; answer again when it is back." : `Not answered: ${words}`);
    });
  }

  say(words: string): void {
    this.problem.hidden = false;
    this.problem.textContent = words;
  }

  private rest(resting: boolean): void {
    for (const one of this.card().querySelectorAll("button, input, textarea"))
      if (one instanceof HTMLButtonElement || one instanceof HTMLInputElement || one instanceof HTMLTextAreaElement) one.disabled = resting;
  }
}
