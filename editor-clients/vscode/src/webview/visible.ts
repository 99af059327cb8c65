/** Characters that hide or reorder text are shown by their names where a person must know what really stands there. */
import { HIDDEN, nameOf, PLAIN } from "../shared/hidden";

/** The text in pieces: plain ones, and the names of characters that cannot be seen. */
function pieces(text: string): { text: string; hidden: boolean }[] {
  const list: { text: string; hidden: boolean }[] = [];
  if (PLAIN.test(text)) return [{ text, hidden: false }];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > from) list.push({ text: text.slice(from, match.index), hidden: false });
    list.push({ text: nameOf(match[0]), hidden: true });
    from = match.index + match[0].length;
  }
  if (from < text.length || list.length === 0) list.push({ text: text.slice(from), hidden: false });
  return list;
}

/** The text as nodes, hidden characters marked. */
export function visible(text: string): DocumentFragment {
  const nodes = document.createDocumentFragment();
  for (const piece of pieces(text)) {
    if (piece.hidden) nodes.append(marker(piece.text));
    else nodes.append(piece.text);
  }
  return nodes;
}

function marker(name: string): HTMLElement {
  const element = document.createElement("span");
  element.className = "hidden-character";
  element.textContent = name;
  return element;
}

const ESC = String.fromCharCode(27);
const BEL = String.fromCharCode(7);
const CONTROL = String.raw`\[[0-9;?]*[ -/]*[@-~]`; // colours, places
const TITLE = String.raw`\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\)?`; // titles, links
const ESCAPES = new RegExp(String.raw`${ESC}(?:${CONTROL}|${TITLE}|[@-Z\\-_])`, "g");

/** A terminal's output as plain lines: no colours, and of a line that was written over and over what stands at last. */
export function plainOutput(text: string): string {
  const lines = text.replace(ESCAPES, "").replaceAll("\r\n", "\n");
  return lines.includes("\r") ? lines.split("\n").map(lastWritten).join("\n") : lines;
}

function lastWritten(line: string): string {
  const end = line.endsWith("\r") ? line.length - 1 : line.length;
  return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}
