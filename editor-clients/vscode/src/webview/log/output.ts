/** A tool's output: the last lines while it runs, the first ones with more on demand when it is opened. */
import { named } from "../../shared/hidden";
import { h } from "../dom";
import { plainOutput } from "../visible";

export const LIVE_LINES = 8;
export const OPEN_LINES = 200;
const SHOWN_LINES = 400;
const LINE = 2000; // characters of one line

/** The last lines of a text that grows. */
export function lastLines(text: string, count: number, characters: number): string {
  const lines = plainOutput(text.slice(-characters)).trimEnd().split("\n").slice(-count);
  return named(lines.map(cut).join("\n"));
}

function cut(line: string): string {
  return line.length > LINE ? `${line.slice(0, LINE)} … ${line.length - LINE} more characters` : line;
}

/** The output of a tool that is done. */
export function outputBox(text: string, label: string, folded = SHOWN_LINES): HTMLElement {
  const lines = plainOutput(text).trimEnd().split("\n");
  if (lines.length === 1 && lines[0] === "") return h("div", { class: "output-empty" }, "(no output)");
  const pre = h("pre", { class: "output", tabindex: 0, role: "group", "aria-label": label });
  const box = h("div", { class: "output-box" }, pre);
  let at = 0;
  const more = h("button", { class: "quiet", type: "button", onclick: () => { add(SHOWN_LINES * 5); } });
  const add = (count: number): void => {
    pre.append(h("span", { class: "output-piece" }, `${named(lines.slice(at, at + count).map(cut).join("\n"))}\n`));
    at += count;
    if (at < lines.length) {
      more.textContent = `Show more (${lines.length - at} lines)`;
      box.append(more);
    } else more.remove();
  };
  add(folded);
  return box;
}
