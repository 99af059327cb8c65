/** Characters that hide or reorder text are shown by their names where a person must know what really stands there. */

// Controls but line feed and tab, soft hyphen, marks of direction, zero widths, invisible operators, fillers, tags.
// eslint-disable-next-line no-control-regex, no-misleading-character-class
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e01ef}]/gu;

/** Most text has no such character; this is quick to tell. */
const PLAIN = /^[\t\n\u0020-\u007e\u00a1-\u00ac\u00ae-\u034e]*$/;

/** `U+202E` for a character that cannot be seen. */
export function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The text in pieces: plain ones, and the names of characters that cannot be seen. */
export function pieces(text: string): { text: string; hidden: boolean }[] {
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

/** The same as plain text, for names and labels. */
export function visibleText(text: string): string {
  return pieces(text)
    .map((piece) => (piece.hidden ? `[${piece.text}]` : piece.text))
    .join("");
}

// eslint-disable-next-line no-control-regex
const ESCAPES = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** A terminal's output as plain lines: no colours, and of a line that was written over and over what stands at last. */
export function plainOutput(text: string): string {
  const lines = text.replace(ESCAPES, "").replaceAll("\r\n", "\n");
  return lines.includes("\r") ? lines.split("\n").map(lastWritten).join("\n") : lines;
}

function lastWritten(line: string): string {
  const end = line.endsWith("\r") ? line.length - 1 : line.length;
  return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}
