/**
 * Growing Markdown as a stream of small operations. Only the last block is parsed anew when text comes; what stands
 * before it is settled and never touched again. Each step does a bounded amount of work.
 */
import MarkdownIt, { type Token } from "markdown-it";

export type Operation =
  /** A block that no longer changes. */
  | { op: "settle"; tokens: Token[] }
  /** The last block as it is now, in place of the one before. */
  | { op: "grow"; tokens: Token[] }
  /** A code block begins; its lines follow. `partial` is the line that is still being written. */
  | { op: "code"; language: string }
  | { op: "codeText"; text: string }
  | { op: "codePartial"; text: string }
  | { op: "codeEnd" }
  /** Text that is too large for one block of Markdown; it is shown as it is. */
  | { op: "plain"; text: string }
  | { op: "plainEnd" };

const CHUNK = 4096; // characters taken up in one step
const CUT_LIST = 4096; // a list above this is settled but for its last item
const PLAIN = 16384; // a block above this is not parsed any more

export const markdown = new MarkdownIt({ html: false, linkify: true });
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
// What a link may lead to is decided where links are made.
markdown.validateLink = () => true;

interface Block {
  tokens: Token[];
  first: number;
  last: number;
}

interface Fence {
  close: RegExp;
  indent: RegExp | undefined;
}

export class Blocks {
  private input = "";
  private tail = "";
  private fence: Fence | undefined;
  private plain = false;
  private ended = false;
  private readonly env = {};

  push(text: string): void {
    this.input += text;
  }

  /** No more text comes. */
  finish(): void {
    this.ended = true;
  }

  /** Whether there is work left. */
  get waiting(): boolean {
    return this.input !== "" || (this.ended && (this.tail !== "" || this.fence !== undefined || this.plain));
  }

  step(): Operation[] {
    this.tail += this.input.slice(0, CHUNK);
    this.input = this.input.slice(CHUNK);
    const last = this.ended && this.input === "";
    if (this.fence) return this.inFence(this.fence, last);
    if (this.plain) return this.inPlain(last);
    return this.inText(last);
  }

  private inFence(fence: Fence, last: boolean): Operation[] {
    const lines = this.tail.split("\n");
    const partial = lines.pop() ?? "";
    const end = lines.findIndex((line) => fence.close.test(line));
    const bare = (line: string): string => bareLine(line, fence);
    const done = (end < 0 ? lines : lines.slice(0, end)).map((line) => `${bare(line)}\n`).join("");
    const operations: Operation[] = done ? [{ op: "codeText", text: done }] : [];
    if (end < 0 && !last) {
      this.tail = partial;
      const hidden = /^[\s`~]*$/.test(partial);
      return [...operations, { op: "codePartial", text: hidden ? "" : bare(partial) }];
    }
    if (end < 0 && !fence.close.test(partial)) operations.push({ op: "codeText", text: bare(partial) });
    const rest = end < 0 ? "" : [...lines.slice(end + 1), partial].join("\n");
    return [...operations, ...this.endFence(rest, last)];
  }

  private endFence(rest: string, last: boolean): Operation[] {
    this.fence = undefined;
    this.tail = rest;
    const operations: Operation[] = [{ op: "codePartial", text: "" }, { op: "codeEnd" }];
    return rest === "" ? operations : [...operations, ...this.inText(last)];
  }

  private inPlain(last: boolean): Operation[] {
    const end = this.tail.search(/\n[ \t]*\n/);
    const text = end < 0 ? this.tail : this.tail.slice(0, end + 1);
    // A line feed at the end may be the first half of a blank line.
    const keep = end < 0 && !last && /\n[ \t]*$/.exec(text);
    const shown = keep ? text.slice(0, keep.index) : text;
    this.tail = this.tail.slice(shown.length);
    const operations: Operation[] = shown ? [{ op: "plain", text: shown }] : [];
    if (end < 0 && !last) return operations;
    this.plain = false;
    operations.push({ op: "plainEnd" });
    return this.tail ? [...operations, ...this.inText(last)] : operations;
  }

  private inText(last: boolean): Operation[] {
    const starts = lineStarts(this.tail);
    const blocks = blocksOf(markdown.parse(this.tail, this.env));
    const settled = last ? blocks.length : this.countSettled(blocks, starts);
    const operations: Operation[] = blocks.slice(0, settled).map(({ tokens }) => ({ op: "settle", tokens }));
    const growing = blocks.slice(settled);
    if (!growing[0]) {
      // After blocks that are over only blank lines can stand; without a block the text may be a link's definition.
      if (last || blocks.length > 0) this.tail = "";
      return last || blocks.length > 0 ? [...operations, { op: "grow", tokens: [] }] : operations;
    }
    this.tail = this.tail.slice(starts[growing[0].first] ?? 0);
    return [...operations, ...this.grow(growing[0], growing.slice(1))];
  }

  private grow(block: Block, further: Block[]): Operation[] {
    const opening = block.tokens[0];
    if (opening?.type === "fence" && this.tail.includes("\n")) return this.openFence(opening);
    if (this.tail.length > CUT_LIST && opening?.type.endsWith("list_open") && further.length === 0) {
      const cut = this.cutList(block);
      if (cut) return cut;
    }
    if (this.tail.length < PLAIN) return [{ op: "grow", tokens: [block, ...further].flatMap(({ tokens }) => tokens) }];
    this.plain = true;
    return [{ op: "grow", tokens: [] }, ...this.inPlain(false)];
  }

  private openFence(opening: Token): Operation[] {
    const first = this.tail.slice(0, this.tail.indexOf("\n"));
    const mark = opening.markup.charAt(0);
    const indent = first.length - first.trimStart().length;
    this.fence = {
      close: new RegExp(`^ {0,3}${mark}{${opening.markup.length},}[ \\t]*$`),
      indent: indent > 0 ? new RegExp(`^ {0,${indent}}`) : undefined,
    };
    this.tail = this.tail.slice(first.length + 1);
    const language = opening.info.trim().split(/\s+/)[0] ?? "";
    return [{ op: "grow", tokens: [] }, { op: "code", language }, ...this.inFence(this.fence, false)];
  }

  /** Settles all items of a long list but the last. */
  private cutList(block: Block): Operation[] | undefined {
    const items = block.tokens.filter((token) => token.type === "list_item_open" && token.level === 1);
    const line = (items.at(-1)?.map?.[0] ?? block.first) - block.first;
    const start = lineStarts(this.tail)[line] ?? 0;
    if (start === 0 || !this.tail.includes("\n", start)) return undefined;
    const done = blocksOf(markdown.parse(this.tail.slice(0, start), this.env));
    const rest = blocksOf(markdown.parse(this.tail.slice(start), this.env));
    this.tail = this.tail.slice(start);
    return [
      ...done.map(({ tokens }): Operation => ({ op: "settle", tokens })),
      { op: "grow", tokens: rest.flatMap(({ tokens }) => tokens) },
    ];
  }

  /** A block is over when the first line of the next one is whole; a closed fence when its last line is. */
  private countSettled(blocks: Block[], starts: number[]): number {
    const whole = (line: number) => starts[line + 1] !== undefined;
    const last = blocks.at(-1);
    if (!last) return 0;
    if (closedFence(last, this.tail, starts) && whole(last.last - 1)) return blocks.length;
    if (whole(last.first) || endsAtBlank(blocks.at(-2), last, this.tail, starts)) return blocks.length - 1;
    return Math.max(0, blocks.length - 2);
  }
}

/** What follows a blank line can no longer change this block; lists and indented code go on behind one. */
function endsAtBlank(block: Block | undefined, next: Block, text: string, starts: number[]): boolean {
  const type = block?.tokens[0]?.type ?? "";
  if (/list|code_block/.test(type)) return false;
  return text.slice(starts[next.first - 1], starts[next.first]).trim() === "";
}

/** A line of a fence that stands indented, without the indent. */
function bareLine(line: string, fence: Fence): string {
  return fence.indent ? line.replace(fence.indent, "") : line;
}

function closedFence(block: Block, text: string, starts: number[]): boolean {
  const opening = block.tokens[0];
  if (opening?.type !== "fence" || block.last - block.first < 2) return false;
  const line = text.slice(starts[block.last - 1], starts[block.last]).trim();
  return line.length >= opening.markup.length && line === opening.markup.charAt(0).repeat(line.length);
}

/** Where each line begins; a text that ends with a line feed has an empty last line. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Tokens in groups, one for each block at the top. */
function blocksOf(tokens: Token[]): Block[] {
  const blocks: Block[] = [];
  let from = 0;
  tokens.forEach((token, index) => {
    if (token.level !== 0 || token.nesting > 0) return;
    const group = tokens.slice(from, index + 1);
    from = index + 1;
    const [first, last] = group[0]?.map ?? [0, 0];
    blocks.push({ tokens: group, first, last });
  });
  return blocks;
}
