/** Markdown's tokens as DOM. Each kind of token is named here; one that is not becomes its text. */
import type { Token } from "markdown-it";
import { h } from "../dom";
import { visible } from "../visible";
import { CodeBlock } from "./code";
import { targetOf, type Target } from "./links";

export interface Surroundings {
  /** What relative paths start from. */
  folder: () => string | undefined;
  follow: (target: Target) => void;
  copy: (text: string) => void;
}

const BLOCKS: Partial<Record<string, keyof HTMLElementTagNameMap>> = {
  paragraph_open: "p",
  bullet_list_open: "ul",
  ordered_list_open: "ol",
  list_item_open: "li",
  blockquote_open: "blockquote",
  thead_open: "thead",
  tbody_open: "tbody",
  tr_open: "tr",
  th_open: "th",
  td_open: "td",
  em_open: "em",
  strong_open: "strong",
  s_open: "s",
};

/** Draws tokens; knows the last heading's level, since a level may only be one deeper than the one before. */
export class Renderer {
  private level = 2;

  constructor(private readonly around: Surroundings) {}

  /** Draws what will be drawn again. */
  preview(tokens: Token[]): DocumentFragment {
    const level = this.level;
    const drawn = this.render(tokens);
    this.level = level;
    return drawn;
  }

  render(tokens: Token[]): DocumentFragment {
    const fragment = document.createDocumentFragment();
    const stack: ParentNode[] = [fragment];
    for (const token of tokens) {
      const parent = stack.at(-1) ?? fragment;
      if (token.nesting < 0) {
        if (!token.hidden && stack.length > 1) stack.pop();
      } else if (token.nesting > 0) {
        if (token.hidden) continue;
        const { outer, inner } = this.open(token);
        parent.append(outer);
        stack.push(inner);
      } else parent.append(this.leaf(token));
    }
    return fragment;
  }

  private open(token: Token): { outer: HTMLElement; inner: HTMLElement } {
    if (token.type === "heading_open") return both(this.heading(token));
    if (token.type === "link_open") return both(this.link(attribute(token, "href")));
    if (token.type === "table_open") {
      const table = h("table");
      return { outer: h("div", { class: "table", tabindex: 0, role: "group", "aria-label": "Table" }, table), inner: table };
    }
    const element = h(BLOCKS[token.type] ?? "span");
    const start = attribute(token, "start");
    if (start !== "") element.setAttribute("start", start);
    const align = /text-align:(left|right|center)/.exec(attribute(token, "style"))?.[1];
    if (align) element.classList.add(`align-${align}`);
    return both(element);
  }

  private heading(token: Token): HTMLElement {
    const wanted = Number(token.tag.slice(1));
    this.level = Math.min(wanted + 2, this.level + 1, 6);
    return h("div", { class: `heading heading-${Math.min(wanted, 4)}`, role: "heading", "aria-level": this.level });
  }

  private link(href: string): HTMLElement {
    const target = targetOf(href, this.around.folder());
    if (!target) return h("span");
    const go = (event: Event): void => {
      event.preventDefault();
      event.stopPropagation();
      if (event.type === "click") this.around.follow(target);
    };
    return h("a", {
      href: target.kind === "web" ? target.href : "#",
      title: target.kind === "web" ? target.href : decodeURIComponent(target.uri),
      onclick: go,
      onauxclick: go,
    });
  }

  private leaf(token: Token): Node {
    switch (token.type) {
      case "inline":
        return this.render(token.children ?? []);
      case "fence":
      case "code_block":
        return this.code(token);
      case "hr":
        return h("hr");
      case "hardbreak":
        return h("br");
      case "softbreak":
        return document.createTextNode("\n");
      case "code_inline":
        return h("code", {}, visible(token.content));
      case "image":
        return this.image(token);
      default:
        return document.createTextNode(token.content);
    }
  }

  private code(token: Token): HTMLElement {
    const block = new CodeBlock(token.info.trim().split(/\s+/)[0] ?? "", this.around.copy);
    block.append(token.content);
    return block.element;
  }

  /** Images are not loaded: a link stands for them. */
  private image(token: Token): HTMLElement {
    const link = this.link(attribute(token, "src"));
    link.append(token.content === "" ? "image" : token.content);
    return link;
  }
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? "");
}

function both(element: HTMLElement): { outer: HTMLElement; inner: HTMLElement } {
  return { outer: element, inner: element };
}
