/** The list that offers files, the selection and commands while the user types. The focus stays in the text. */
import { h, setAttribute } from "../dom";
import { icon, type IconName } from "../icons";

export interface Offer {
  icon: IconName;
  label: string;
  detail: string;
  choose: () => void;
}

export class Completion {
  readonly element = h("div", { class: "completion", role: "listbox", id: "completion", "aria-label": "Suggestions", hidden: true });
  private offers: Offer[] = [];
  private at = 0;

  constructor(private readonly input: HTMLTextAreaElement) {
    setAttribute(input, "aria-autocomplete", "list");
    setAttribute(input, "aria-haspopup", "listbox");
    setAttribute(input, "aria-controls", "completion");
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  show(offers: Offer[]): void {
    const kept = offers.findIndex(({ label }) => label === this.offers[this.at]?.label);
    this.offers = offers;
    this.at = this.open && kept > 0 ? kept : 0;
    this.element.hidden = offers.length === 0;
    this.element.replaceChildren(...offers.map((offer, index) => this.row(offer, index)));
    this.mark();
  }

  hide(): void {
    if (this.open) this.show([]);
  }

  /** True if the key was for the list. */
  key(event: KeyboardEvent): boolean {
    if (!this.open || event.isComposing) return false;
    const count = this.offers.length;
    const plain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
    const choose = (): void => { this.offers[this.at]?.choose(); };
    const keys: Partial<Record<string, () => void>> = {
      ArrowDown: () => { this.at = (this.at + 1) % count; },
      ArrowUp: () => { this.at = (this.at + count - 1) % count; },
      Escape: () => { this.hide(); },
      Enter: choose,
      Tab: choose,
    };
    const does = plain ? keys[event.key] : undefined;
    if (!does) return false;
    event.preventDefault();
    does();
    this.mark();
    return true;
  }

  private row(offer: Offer, index: number): HTMLElement {
    return h(
      "div",
      {
        class: "option",
        role: "option",
        id: `completion-${index}`,
        // The press, not the click: the focus must not leave the text.
        onmousedown: (event: Event) => {
          event.preventDefault();
          offer.choose();
        },
      },
      icon(offer.icon),
      h("span", { class: "option-label" }, offer.label),
      h("span", { class: "option-detail" }, offer.detail),
    );
  }

  private mark(): void {
    [...this.element.children].forEach((row, index) => { setAttribute(row, "aria-selected", index === this.at ? "true" : "false"); });
    this.element.children[this.at]?.scrollIntoView({ block: "nearest" });
    setAttribute(this.input, "aria-activedescendant", this.open ? `completion-${this.at}` : undefined);
  }
}
