/** A block of code with its language and a button that copies it. Long ones stand in pieces, so that a new line costs little. */
import { h, setText } from "../dom";
import { icon } from "../icons";
import { visible } from "../visible";

const PIECE = 100; // lines

export class CodeBlock {
  readonly element: HTMLElement;
  private text = "";
  private lines = 0;
  private piece: HTMLElement | undefined;
  private readonly code = h("code");
  private readonly partial = h("span");

  constructor(language: string, copy: (text: string) => void) {
    const name = language === "" ? "text" : language.slice(0, 40);
    const label = h("span", {}, "Copy");
    const button = h("button", {
      class: "quiet code-copy",
      type: "button",
      "aria-label": `Copy code, ${name}`,
      onclick: () => {
        copy(this.text);
        setText(label, "Copied");
        setTimeout(() => {
          setText(label, "Copy");
        }, 1500);
      },
    }, icon("copy"), label);
    this.code.append(this.partial);
    this.element = h(
      "div",
      { class: "code" },
      h("div", { class: "code-head" }, h("span", { class: "code-language" }, name), button),
      h("pre", { tabindex: 0, role: "group", "aria-label": `Code, ${name}` }, this.code),
    );
  }

  append(text: string): void {
    this.text += text;
    for (const line of text.split(/(?<=\n)/)) {
      if (!this.piece || this.lines % PIECE === 0) {
        this.piece = h("span", { class: "code-piece" });
        this.code.insertBefore(this.piece, this.partial);
      }
      this.piece.append(visible(line));
      if (line.endsWith("\n")) this.lines++;
    }
  }

  /** The line that is still being written. */
  setPartial(text: string): void {
    if (text !== "" || this.partial.hasChildNodes()) this.partial.replaceChildren(visible(text));
  }
}
