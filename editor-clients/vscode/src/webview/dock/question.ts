/** The card of a question: choose one or several, or answer in own words; several questions one after another. */
import type { Question, QuestionItem } from "../../protocol";
import { h } from "../dom";
import { request } from "../host";
import { icon } from "../icons";
import { Answering } from "./answering";
import type { Card } from "./asks";

let numbers = 0;

export class QuestionCard implements Card {
  readonly element = h("section", { class: "card question", role: "group", tabindex: -1, "data-testid": "card" });
  private readonly answering = new Answering(() => this.element);
  private readonly answers: string[][] = [];
  private readonly name = `question-${++numbers}`;
  /** Made once, so that what was chosen and typed is there when the user comes back. */
  private readonly forms: HTMLFormElement[] = [];

  constructor(private readonly ask: Question) {
    this.show(0, false);
  }

  get first(): HTMLElement {
    return this.element.querySelector<HTMLElement>("input, textarea, button") ?? this.element;
  }

  get unsent(): string {
    return this.answering.taken ? "" : this.forms.map(ownWords).filter((words) => words !== "").join("\n");
  }

  private show(index: number, focus: boolean): void {
    const item = this.ask.questions[index];
    if (!item) {
      this.answering.send(request("question/reply", { questionId: this.ask.questionId, answers: this.answers }));
      return;
    }
    const title = `${this.name}-${index}`;
    const form = (this.forms[index] ??= this.form(item, index, title));
    this.element.setAttribute("aria-labelledby", title);
    const many = this.ask.questions.length > 1 ? `${item.header} · ${index + 1} of ${this.ask.questions.length}` : item.header;
    this.element.replaceChildren(
      h("div", { class: "card-header" }, many),
      h("h2", { class: "card-title", id: title }, icon("question"), h("span", {}, item.question)),
      form,
      this.answering.problem,
    );
    if (focus) this.first.focus();
  }

  private form(item: QuestionItem, index: number, title: string): HTMLFormElement {
    const form = h("form", { class: "choices" });
    const boxes = item.options.map((option) => choice(item, option, title));
    const custom = item.custom !== false;
    const own = h("textarea", { class: "field", rows: 1, placeholder: item.options.length > 0 ? "Or in your own words" : "Your answer", "aria-label": "Your own answer" });
    const last = index === this.ask.questions.length - 1;
    const submit = h("button", { class: "button", type: "submit" }, last ? "Answer" : "Next");
    const dismiss = h("button", { class: "button secondary", type: "button", title: "The turn stops", onclick: () => { this.answering.send(request("question/reject", { questionId: this.ask.questionId })); } }, "Dismiss");
    const back = index > 0 ? h("button", { class: "button secondary", type: "button", onclick: () => { this.show(index - 1, true); } }, "Back") : null;
    form.append(...boxes, ...(custom ? [own] : []), h("div", { class: "card-actions" }, submit, back, dismiss));
    own.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    own.addEventListener("input", () => {
      if (item.multiple !== true && own.value.trim() !== "") for (const one of form.querySelectorAll<HTMLInputElement>("input")) one.checked = false;
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit(form, index);
    });
    return form;
  }

  private submit(form: HTMLFormElement, index: number): void {
    const chosen = [...form.querySelectorAll<HTMLInputElement>("input:checked")].map(({ value }) => value);
    const own = ownWords(form);
    const answer = own === "" ? chosen : [...chosen, own];
    if (answer.length === 0) {
      this.answering.say("Choose an answer, or write one.");
      return;
    }
    this.answering.problem.hidden = true;
    this.answers[index] = answer;
    this.show(index + 1, true);
  }
}

function ownWords(form: HTMLFormElement): string {
  return form.querySelector("textarea")?.value.trim() ?? "";
}

function choice(item: QuestionItem, option: QuestionItem["options"][number], name: string): HTMLElement {
  const box = h("input", { type: item.multiple === true ? "checkbox" : "radio", name, value: option.label });
  return h(
    "label",
    { class: "choice" },
    box,
    h("span", { class: "choice-words" }, h("span", {}, option.label), option.description === undefined ? null : h("span", { class: "choice-description" }, option.description)),
  );
}
