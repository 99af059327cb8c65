/** The agent's list of things to do, and the prompts that wait for their turn. */
import type { SessionCopy } from "../../shared/store";
import type { Todo } from "../../protocol";
import { h, once, oneLine, setText } from "../dom";
import { request, wordsOf } from "../host";
import { icon, type IconName } from "../icons";

const LOOK: Record<Todo["status"], { icon: IconName; said: string }> = {
  pending: { icon: "pending", said: "to do" },
  in_progress: { icon: "chevron", said: "in progress" },
  completed: { icon: "check", said: "done" },
  cancelled: { icon: "stopped", said: "cancelled" },
};

export class TodoList {
  private readonly title = h("span", { class: "fold-title" });
  private readonly now = h("span", { class: "fold-now" });
  private readonly list = h("ul", { class: "todos", hidden: true });
  private readonly head = h(
    "button",
    { class: "row-head fold-head", type: "button", "aria-expanded": "false", onclick: () => { this.toggle(); } },
    icon("chevron", "row-chevron"),
    this.title,
    this.now,
  );
  readonly element = h("section", { class: "fold", "aria-label": "To do", hidden: true }, this.head, this.list);
  private drawn: Todo[] = [];

  show(copy: SessionCopy | undefined): void {
    const todos = copy?.todos ?? [];
    const over = !copy?.busy && todos.every(({ status }) => status === "completed" || status === "cancelled");
    this.element.hidden = todos.length === 0 || over;
    if (todos === this.drawn) return;
    this.drawn = todos;
    const done = todos.filter(({ status }) => status === "completed").length;
    setText(this.title, `To do ${done} of ${todos.length}`);
    setText(this.now, todos.find(({ status }) => status === "in_progress")?.content ?? "");
    this.list.replaceChildren(...todos.map(todoRow));
  }

  private toggle(): void {
    this.list.hidden = !this.list.hidden;
    this.head.setAttribute("aria-expanded", String(!this.list.hidden));
    this.element.classList.toggle("open", !this.list.hidden);
  }
}

function todoRow(todo: Todo): HTMLElement {
  const { icon: name, said } = LOOK[todo.status];
  return h("li", { class: `todo todo-${todo.status}` }, icon(name), h("span", {}, oneLine(todo.content, 400)), h("span", { class: "unseen" }, `, ${said}`));
}

export class QueueList {
  private readonly list = h("ul", { class: "queue" });
  readonly element = h("section", { class: "fold", "aria-label": "Queued prompts", hidden: true }, h("div", { class: "fold-label" }, icon("queue"), "Queued: sent when this turn is over"), this.list);
  private drawn: unknown;

  constructor(private readonly failed: (words: string) => void) {}

  show(copy: SessionCopy | undefined): void {
    const queue = copy?.queue ?? [];
    this.element.hidden = queue.length === 0;
    if (queue === this.drawn) return;
    this.drawn = queue;
    this.list.replaceChildren(...queue.map(({ messageId, text }) => this.row(messageId, text)));
  }

  private row(messageId: string, text: string): HTMLElement {
    const words = oneLine(text, 300);
    const remove = h("button", { class: "icon-button", type: "button", title: "Remove from the queue", "aria-label": `Remove from the queue: ${oneLine(text, 60)}` }, icon("close"));
    remove.addEventListener("click", () => {
      void once(remove, () =>
        request("queue/remove", { messageId }).catch((error: unknown) => { this.failed(`Not removed: ${wordsOf(error)}`); }));
    });
    return h("li", { class: "queued" }, h("span", { class: "queued-words" }, words), remove);
  }
}
