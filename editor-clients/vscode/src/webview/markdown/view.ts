/** Growing Markdown on the screen. */
import type { Token } from "markdown-it";
import { h } from "../dom";
import { Blocks, type Operation } from "./blocks";
import { CodeBlock } from "./code";
import { Renderer, type Surroundings } from "./render";

const SECTION = 30; // blocks that are laid out, or left alone, together
const PIECE = 8192; // characters of plain text that are

export class MarkdownView {
  readonly element = h("div", { class: "markdown" });
  /** The last of the sections that the blocks stand in. */
  private section: HTMLElement | undefined;
  private blocks = new Blocks();
  private renderer: Renderer;
  private text = "";
  private finished = false;
  private growing: ChildNode[] = [];
  /** The last block's tokens, not drawn yet: more may come in the same frame. */
  private unsettled: Token[] | undefined;
  private code: CodeBlock | undefined;
  private plain: HTMLElement | undefined;
  /** When the growing block may be drawn again: a large one is drawn less often. */
  private next = 0;

  constructor(private readonly around: Surroundings) {
    this.renderer = new Renderer(around);
  }

  append(text: string): void {
    this.text += text;
    this.blocks.push(text);
  }

  /** The whole text; what was drawn stays if the text only went on. */
  set(text: string): void {
    if (text === this.text) return;
    if (this.finished || !text.startsWith(this.text)) this.clear();
    const more = text.slice(this.text.length);
    this.text = text;
    this.blocks.push(more);
  }

  finish(): void {
    this.finished = true;
    this.blocks.finish();
  }

  /** Draws until the deadline; true if there is more to draw. */
  draw(deadline: number): boolean {
    let now = performance.now();
    if (now < this.next) return this.blocks.waiting;
    const began = now;
    while (this.blocks.waiting && now < deadline) {
      for (const operation of this.blocks.step()) this.apply(operation);
      now = performance.now();
    }
    if (this.unsettled) this.grow(this.unsettled);
    now = performance.now();
    this.next = now + (now - began) * 3;
    return this.blocks.waiting;
  }

  private grow(tokens: Token[]): void {
    this.unsettled = undefined;
    const drawn = this.renderer.preview(tokens);
    this.drop();
    this.growing = [...drawn.childNodes];
    this.add(drawn);
  }

  /** Far from the screen a section costs nothing. */
  private add(nodes: Node): void {
    if (!this.section || this.section.childElementCount >= SECTION) {
      this.section = h("div", { class: "section" });
      this.element.append(this.section);
    }
    this.section.append(nodes);
  }

  private clear(): void {
    this.text = "";
    this.finished = false;
    this.blocks = new Blocks();
    this.renderer = new Renderer(this.around);
    this.growing = [];
    this.unsettled = undefined;
    this.code = undefined;
    this.plain = undefined;
    this.section = undefined;
    this.element.replaceChildren();
  }

  private apply(operation: Operation): void {
    switch (operation.op) {
      case "settle":
        this.drop();
        this.add(this.renderer.render(operation.tokens));
        break;
      case "grow":
        this.unsettled = operation.tokens;
        break;
      case "code":
        this.drop();
        this.code = new CodeBlock(operation.language, this.around.copy);
        this.add(this.code.element);
        break;
      case "plain":
        this.addPlain(operation.text);
        break;
      case "plainEnd":
        this.plain = undefined;
        break;
      default:
        this.applyCode(operation);
    }
  }

  private applyCode(operation: Operation & { op: "codeText" | "codePartial" | "codeEnd" }): void {
    if (operation.op === "codeText") this.code?.append(operation.text);
    else if (operation.op === "codePartial") this.code?.setPartial(operation.text);
    else this.code = undefined;
  }

  /** Takes the growing block away, before what comes in its place. */
  private drop(): void {
    this.unsettled = undefined;
    for (const node of this.growing) node.remove();
    this.growing = [];
  }

  private addPlain(text: string): void {
    this.drop();
    if (!this.plain) {
      this.plain = h("div", { class: "plain" });
      this.add(this.plain);
    }
    const last = this.plain.lastElementChild;
    const size = last?.textContent.length ?? PIECE;
    if (last && size < PIECE && !last.textContent.endsWith("\n")) last.append(text);
    else this.plain.append(h("div", { class: "plain-piece" }, text));
  }
}
