/** Building DOM without HTML text: what a model writes can only ever become text. */

type Child = Node | string | null | undefined | false;

interface Attributes {
  class?: string;
  [name: string]: string | number | boolean | undefined | ((event: never) => void);
}

/** An element; `on…` members are listeners, `true` sets an empty attribute, `false` and undefined none. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** Puts these children in place of those that are there, leaving alone the ones that stay where they are. */
export function reconcile(parent: Element, wanted: readonly Element[]): void {
  const keep = new Set<Element>(wanted);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  let at = parent.firstElementChild;
  for (const child of wanted) {
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
}

/** Sets text only if it is another one, so that nothing is laid out or read out anew. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element: Element, name: string, value: string | boolean | undefined): void {
  if (value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== (value === true ? "" : value)) element.setAttribute(name, value === true ? "" : value);
}

/** Does what a button begins, once at a time. The button is not `disabled`: that would take away the focus. */
export async function once(button: HTMLElement, work: () => Promise<unknown>): Promise<void> {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  await work().finally(() => { button.removeAttribute("aria-disabled"); });
}

/** A text on one line of at most so many characters. */
export function oneLine(text: string, limit: number): string {
  const line = text.slice(0, limit * 4).replace(/\s+/g, " ").trim();
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}
