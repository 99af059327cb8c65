import assert from "node:assert/strict";
import test from "node:test";
import { Blocks, markdown, type Operation } from "../../src/webview/markdown/blocks";

/** What stands on the screen after the operations, as HTML made by markdown-it's own renderer. */
class Screen {
  settled = "";
  growing = "";
  private code: { language: string; text: string; partial: string } | undefined;
  private plain = "";

  apply(operations: Operation[]): void {
    for (const one of operations) this.one(one);
  }

  private one(one: Operation): void {
    if (one.op === "settle") this.settled += markdown.renderer.render(one.tokens, markdown.options, {});
    else if (one.op === "grow") this.growing = markdown.renderer.render(one.tokens, markdown.options, {});
    else if (one.op === "code") this.code = { language: one.language, text: "", partial: "" };
    else if (one.op === "codeText" && this.code) this.code.text += one.text;
    else if (one.op === "codePartial" && this.code) this.code.partial = one.text;
    else if (one.op === "codeEnd" && this.code) {
      this.settled += fence(this.code.language, this.code.text);
      this.code = undefined;
    } else if (one.op === "plain") this.plain += one.text;
    else if (one.op === "plainEnd") {
      this.settled += `<plain>${this.plain}</plain>`;
      this.plain = "";
    }
  }

  get all(): string {
    const code = this.code ? fence(this.code.language, this.code.text + this.code.partial) : "";
    return this.settled + code + (this.plain ? `<plain>${this.plain}</plain>` : "") + this.growing;
  }
}

function fence(language: string, text: string): string {
  const content = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return markdown.render(`~~~~~~~~ ${language}\n${content}~~~~~~~~\n`);
}

function drain(blocks: Blocks, screen: Screen): void {
  while (blocks.waiting) screen.apply(blocks.step());
}

function stream(text: string, cuts: number[]): string {
  const blocks = new Blocks();
  const screen = new Screen();
  let from = 0;
  for (const cut of [...cuts, text.length]) {
    blocks.push(text.slice(from, cut));
    from = cut;
    drain(blocks, screen);
  }
  blocks.finish();
  drain(blocks, screen);
  assert.equal(screen.growing, "");
  return screen.all;
}

/** A fence's text ends with a line feed in markdown-it, also where the text ended without one. */
function whole(text: string): string {
  return markdown.render(text).replace(/([^\n])<\/code><\/pre>/g, "$1\n</code></pre>");
}

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

const PIECES = [
  "A line of words, *some* of them **strong**, and `code`.\n",
  "Another one.\n\n",
  "# Heading\n\n",
  "Setext\n===\n",
  "- one\n- two\n  more of it\n",
  "- a\n---\n",
  "1. first\n\n2. second\n\n",
  "> said\n> so\n\n",
  "```python\ndef f():\n    return 1\n\n```\n",
  "  ```\n  indented\n  ```\n",
  "~~~~\n~~~\n```\n~~~~\n",
  "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
  "    indented code\n\n    more\n\n",
  "***\n",
  "text\n```js\nlet x;\n```\nmore text\n",
  "- item\n\n  ```sh\n  ls\n  ```\n\n- next\n",
  "\n\n",
  "``not a fence``\n",
];

test("text cut anywhere looks at last like text that came at once", () => {
  const next = random(7);
  for (let round = 0; round < 400; round++) {
    let text = "";
    while (text.length < 40 + next() * 300) text += PIECES[Math.floor(next() * PIECES.length)] ?? "";
    if (next() < 0.3) text = text.trimEnd();
    const cuts = Array.from({ length: Math.floor(next() * 40) }, () => Math.floor(next() * text.length)).sort((a, b) => a - b);
    assert.equal(stream(text, cuts), whole(text), JSON.stringify({ text, cuts }));
  }
});

test("each character alone", () => {
  const text = PIECES.join("");
  const cuts = Array.from({ length: text.length }, (_, index) => index);
  assert.equal(stream(text, cuts), whole(text));
});

test("what is being written is shown before its line ends", () => {
  const blocks = new Blocks();
  const screen = new Screen();
  blocks.push("First paragraph.\n\nSecond para");
  drain(blocks, screen);
  assert.match(screen.all, /<p>First paragraph\.<\/p>\n<p>Second para<\/p>/);
  blocks.push("graph\n\n```py\nx = ");
  drain(blocks, screen);
  assert.match(screen.all, /Second paragraph<\/p>[^]*<code class="language-py">x = /);
});

test("a fence that never ends is code to the end", () => {
  assert.match(stream("before\n\n```\n# no heading\n", [9, 12]), /<pre><code># no heading\n<\/code><\/pre>/);
});

test("no step takes long, whatever the text", () => {
  const texts = {
    line: "a".repeat(1_000_000),
    words: "some *words* and `code` ".repeat(20_000),
    brackets: "[".repeat(200_000),
    table: `|a|b|\n|-|-|\n${"|c|d|\n".repeat(50_000)}`,
    list: "- an item\n".repeat(30_000),
    fence: `\`\`\`\n${"let x = 1;\n".repeat(50_000)}`,
  };
  for (const [name, text] of Object.entries(texts)) {
    const blocks = new Blocks();
    blocks.push(text);
    blocks.finish();
    let steps = 0;
    let shown = 0;
    while (blocks.waiting) {
      for (const one of blocks.step()) {
        if (one.op === "codeText" || one.op === "plain") shown += one.text.length;
        if (one.op === "settle") shown += one.tokens.reduce((sum, token) => sum + token.content.length, 0);
      }
      steps++;
    }
    assert.ok(steps <= text.length / 4096 + 2, `${name}: ${steps} steps`);
    assert.ok(shown >= text.length * (name === "list" ? 0.6 : 0.9), `${name}: all is shown`);
  }
});
