/** What waits for the user's answer, one card at a time. */
import { askId, isPermission, type Ask, type SessionCopy } from "../../shared/store";
import { h } from "../dom";
import { icon } from "../icons";
import { announce } from "../announce";
import { PermissionCard } from "./permission";
import { QuestionCard } from "./question";

/** A card on the screen; it is made once, so that what was typed or ticked in it stays. */
export interface Card {
  readonly element: HTMLElement;
  /** Where the focus goes when the user comes to the card. */
  readonly first: HTMLElement;
  /** Words that were typed into it and that nobody took. */
  readonly unsent: string;
}

interface Surroundings {
  /** Puts the focus elsewhere. */
  leave: () => void;
  /** What paths are shown from. */
  folder: () => string | undefined;
  /** Takes words that were typed into a card that goes. */
  giveBack: (words: string) => void;
}

export class Asks {
  readonly element = h("div", { class: "asks", hidden: true });
  private readonly cards = new Map<string, { card: Card; session: string }>();
  private list: Ask[] = [];
  private at: string | undefined;

  constructor(private readonly around: Surroundings) {}

  show(copy: SessionCopy | undefined): void {
    const list = copy?.owner ? [] : (copy?.pendingInOrder() ?? []);
    const fresh = list.filter((ask) => !this.list.some((known) => askId(known) === askId(ask)));
    const same = fresh.length === 0 && list.length === this.list.length;
    this.list = list;
    if (same) return;
    const focused = this.element.contains(document.activeElement);
    this.forget(new Set(list.map(askId)), copy?.id);
    this.draw();
    if (focused) this.focus();
    for (const ask of fresh) announce(said(ask));
  }

  /** Drops the session's cards of what is settled; the first that is left is shown if the shown one went. */
  private forget(ids: Set<string>, shown: string | undefined): void {
    for (const [id, { card, session }] of [...this.cards]) {
      if (ids.has(id) || session !== shown) continue;
      this.cards.delete(id);
      if (card.unsent !== "") this.around.giveBack(card.unsent);
    }
    const [first] = this.list;
    if (this.at === undefined || !ids.has(this.at)) this.at = first && askId(first);
  }

  /** Puts the focus on a card; on the one that is shown if there is none with that id. */
  focus(id?: string): void {
    if (id !== undefined && this.list.some((ask) => askId(ask) === id)) {
      this.at = id;
      this.draw();
    }
    const shown = this.at === undefined ? undefined : this.cards.get(this.at);
    if (shown) shown.card.first.focus();
    else this.around.leave();
  }

  private draw(): void {
    this.element.hidden = this.list.length === 0;
    const index = Math.max(0, this.list.findIndex((ask) => askId(ask) === this.at));
    const ask = this.list[index];
    if (!ask) {
      this.element.replaceChildren();
      return;
    }
    const id = askId(ask);
    const card = this.cards.get(id)?.card ?? (isPermission(ask) ? new PermissionCard(ask, this.around.folder()) : new QuestionCard(ask));
    this.cards.set(id, { card, session: ask.rootSessionId });
    const pager = this.list.length > 1 ? [this.pager(index)] : [];
    this.element.replaceChildren(...pager, card.element);
  }

  private pager(index: number): HTMLElement {
    const step = (by: number): void => {
      const next = this.list[(index + by + this.list.length) % this.list.length];
      this.at = next && askId(next);
      this.draw();
      this.element.querySelector<HTMLElement>(by > 0 ? ".pager-next" : ".pager-previous")?.focus();
    };
    const button = (by: number, name: string, look: string) =>
      h("button", { class: `icon-button ${look}`, type: "button", "aria-label": name, title: name, onclick: () => { step(by); } }, icon("chevron", by < 0 ? "turned" : ""));
    return h(
      "div",
      { class: "pager" },
      button(-1, "Previous question", "pager-previous"),
      h("span", {}, `${index + 1} of ${this.list.length}`),
      button(1, "Next question", "pager-next"),
    );
  }
}

function said(ask: Ask): string {
  return isPermission(ask) ? `Permission asked: ${ask.title}` : `Question: ${ask.questions[0]?.question ?? ""}`;
}
