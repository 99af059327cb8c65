/** Sending the answer of a card: its buttons rest meanwhile, and what went wrong is said in it. */
import { h } from "../dom";
import { RequestError, wordsOf } from "../host";

export class Answering {
  /** Whether an answer was taken: what was typed besides is not needed any more. */
  taken = false;
  private before: HTMLElement | undefined;
  readonly problem = h("div", { class: "card-problem", role: "alert", hidden: true });

  constructor(private readonly card: () => HTMLElement) {}

  /** The card goes away with the notification that settles it, not before. */
  send(answer: Promise<{ status: string }>): void {
    this.rest(true);
    this.problem.hidden = true;
    answer.then(({ status }) => { this.taken = status === "accepted"; }, (error: unknown) => {
      this.rest(false);
      const gone = error instanceof RequestError && error.failure.kind === "gone";
      this.say(gone ? "The server is not there; answer again when it is back." : `Not answered: ${wordsOf(error)}`);
    });
  }

  say(words: string): void {
    this.problem.hidden = false;
    this.problem.textContent = words;
  }

  /** What rests cannot have the focus: the card itself holds it meanwhile. */
  private rest(resting: boolean): void {
    const card = this.card();
    const { activeElement } = document;
    if (resting && activeElement instanceof HTMLElement && card.contains(activeElement)) {
      this.before = activeElement;
      card.focus();
    }
    const fields = card.querySelectorAll<HTMLButtonElement | HTMLInputElement | HTMLTextAreaElement>("button, input, textarea");
    for (const field of fields) field.disabled = resting;
    if (!resting && activeElement === card) this.before?.focus();
  }
}
