/** Unified patches, applied to a text forwards or backwards. Line endings count as LF. */

interface Hunk {
  oldStart: number;
  newStart: number;
  /** Lines with their ending, so that a missing last one counts. */
  old: string[];
  new: string[];
}

const TITLE = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Lines with their line feed; the last may lack one. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function add(hunk: Hunk, sign: string, line: string): void {
  if (sign !== "+") hunk.old.push(line);
  if (sign !== "-") hunk.new.push(line);
}

/** `\ No newline at end of file` is about the line before it. */
function cutLast(hunk: Hunk, sign: string): void {
  for (const [lines, without] of [[hunk.old, "+"], [hunk.new, "-"]] as const) {
    const last = lines.at(-1);
    if (sign !== without && last !== undefined) lines[lines.length - 1] = last.replace(/\n$/, "");
  }
}

function hunksOf(patch: string): Hunk[] {
  const hunks: Hunk[] = [];
  let sign = " ";
  for (const line of linesOf(patch.replaceAll("\r\n", "\n"))) {
    const title = TITLE.exec(line);
    const hunk = hunks.at(-1);
    if (title) hunks.push({ oldStart: Number(title[1]), newStart: Number(title[3]), old: [], new: [] });
    else if (hunk && line.startsWith("\\")) cutLast(hunk, sign);
    else if (hunk && /^[ +-]/.test(line)) {
      sign = line.charAt(0);
      add(hunk, sign, line.slice(1));
    }
  }
  return hunks;
}

/** Where `wanted` stands in `lines`: at `expected`, or at the nearest place to it from `from` on. */
function placeOf(lines: string[], wanted: string[], expected: number, from: number): number | undefined {
  const fits = (at: number) => at >= from && wanted.every((line, index) => lines[at + index] === line);
  for (let off = 0; off <= lines.length; off += 1) {
    if (fits(expected + off)) return expected + off;
    if (fits(expected - off)) return expected - off;
  }
  return undefined;
}

/** The text with the patch in it; absent if the patch is not about this text. */
export function applied(text: string, patch: string): string | undefined {
  const lines = linesOf(text.replaceAll("\r\n", "\n"));
  const out: string[][] = [];
  let done = 0;
  for (const hunk of hunksOf(patch)) {
    // A hunk without old lines names the line after which it stands.
    const expected = hunk.old.length === 0 ? hunk.oldStart : hunk.oldStart - 1;
    const at = placeOf(lines, hunk.old, expected, done);
    if (at === undefined || at > lines.length) return undefined;
    out.push(lines.slice(done, at), hunk.new);
    done = at + hunk.old.length;
  }
  return [...out, lines.slice(done)].flat().join("");
}

/** The patch that undoes a patch. */
export function reversed(patch: string): string {
  const lines = linesOf(patch.replaceAll("\r\n", "\n"));
  const body = lines.findIndex((line) => TITLE.test(line)); // before it stand the names of the files
  return [...lines.slice(0, body), ...lines.slice(body).map(turned)].join("");
}

function turned(line: string): string {
  const title = /^@@ -(\S+) \+(\S+) @@(.*)$/s.exec(line);
  if (title) return `@@ -${title[2] ?? ""} +${title[1] ?? ""} @@${title[3] ?? ""}`;
  if (line.startsWith("+")) return `-${line.slice(1)}`;
  if (line.startsWith("-")) return `+${line.slice(1)}`;
  return line;
}
