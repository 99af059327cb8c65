/** Below the messages: what is not sent yet, how the last turn ended, and what can be done now. */
import type { LastTurn, SessionCopy } from "../../shared/store";
import type { StateMessage, Unsent } from "../../shared/messages";
import { h, once } from "../dom";
import { post, request, wordsOf } from "../host";
import { icon } from "../icons";
import { ENDINGS, type StopReason } from "../words";
import { userWords } from "./message";

/** What went wrong with a turn, in the server's words. */
function reason(turn: LastTurn): string {
  const message = turn.error?.data.message;
  return typeof message === "string" ? message : "";
}

/** The last turn, if nothing runs. */
function endedTurn(copy: SessionCopy | undefined): LastTurn | undefined {
  return copy?.busy === false && copy.turn?.state === "ended" ? copy.turn : undefined;
}

export class Ending {
  readonly element = h("div", { class: "ending", hidden: true, "data-testid": "ending" });
  private drawn = "";

  show(copy: SessionCopy | undefined): void {
    const turn = endedTurn(copy);
    const stop = turn?.stopReason;
    const key = turn && stop && ENDINGS[stop] ? `${turn.id} ${stop} ${reason(turn)}` : "";
    if (key === this.drawn) return;
    this.drawn = key;
    this.element.hidden = key === "";
    if (turn && stop) this.draw(turn, ENDINGS[stop]);
  }

  private draw(turn: LastTurn, ending: (typeof ENDINGS)[StopReason]): void {
    if (!ending) return;
    const bad = ending.bad === true;
    const why = bad || turn.error?.data.reason !== "abort" ? reason(turn) : "";
    this.element.className = bad ? "ending bad" : "ending";
    this.element.replaceChildren(
      icon(bad ? "error" : "stopped"),
      h(
        "div",
        { class: "ending-words" },
        h("strong", {}, ending.said),
        why === "" ? null : h("span", {}, `: ${why}`),
        ending.hint === undefined ? null : h("div", { class: "hint" }, ending.hint),
      ),
      h("div", { class: "ending-actions" }, ...this.actions(ending.action, turn.error?.name)),
    );
  }

  private actions(words: string | undefined, error: string | undefined): HTMLElement[] {
    const list: HTMLElement[] = [];
    if (error === "ContextOverflowError")
      list.push(h("button", { class: "button", type: "button", onclick: () => { post({ type: "newSession" }); } }, "New session"));
    else if (words !== undefined) list.push(h("button", { class: "button", type: "button", onclick: (event: Event) => { this.goOn(event.currentTarget as HTMLButtonElement); } }, words));
    if (error === "ProviderAuthError" || error === "APIError")
      list.push(h("button", { class: "button secondary", type: "button", onclick: () => { post({ type: "pick", what: "model" }); } }, "Choose another model"));
    return list;
  }

  private goOn(button: HTMLButtonElement): void {
    this.element.querySelector(".ending-problem")?.remove();
    void once(button, () =>
      request("session/continue", {}).catch((error: unknown) => {
        this.element.append(h("div", { class: "ending-problem", role: "alert" }, `That did not work: ${wordsOf(error)}`));
      }));
  }
}

/** Prompts that the server has not taken yet look like prompts that wait. */
export class UnsentList {
  readonly element = h("div", { class: "unsent" });
  private drawn = "";

  show(state: StateMessage | undefined, known: (messageId: string) => boolean): void {
    const list = (state?.unsent ?? []).filter((one) => !known(one.messageId));
    const waits = state?.server.state === "up" ? "Sending…" : "Waits for the server";
    const key = `${waits} ${list.map((one) => one.messageId).join(" ")}`;
    if (key === this.drawn) return;
    this.drawn = key;
    this.element.replaceChildren(...list.map((one) => row(one, waits)));
  }
}

function row(one: Unsent, waits: string): HTMLElement {
  const words = one.kind === "shell" ? `! ${one.text}` : one.text;
  return h(
    "article",
    { class: "message user waiting" },
    h("h2", { class: "unseen" }, "You, not sent yet"),
    h("div", { class: "words" }, ...userWords(words)),
    h("div", { class: "hint" }, waits),
  );
}
