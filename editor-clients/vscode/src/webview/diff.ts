/** A unified patch as lines with colours. */
import { h } from "./dom";
import { visible } from "./visible";

export interface Counts {
  added: number;
  removed: number;
}

/** A patch without the lines that only name the file again. */
export function bare(patch: string): string {
  return patch.replace(/^(?:diff [^\n]*\n|index [^\n]*\n)*--- [^\n]*\n\+\+\+ [^\n]*\n/, "").replace(/\n+$/, "");
}

export function count(patch: string): Counts {
  const counts = { added: 0, removed: 0 };
  for (const line of bare(patch).split("\n")) {
    if (line.startsWith("+")) counts.added++;
    else if (line.startsWith("-")) counts.removed++;
  }
  return counts;
}

function kindOf(line: string): string {
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return line.startsWith("@@") ? "hunk" : line.startsWith("\\") ? "note" : "same";
}

/** At most `limit` lines, and how many more there are. */
export function diffLines(patch: string, limit: number): HTMLElement {
  const lines = bare(patch).split("\n");
  const box = h("div", { class: "diff", role: "group", tabindex: 0, "aria-label": "Changes" });
  for (const line of lines.slice(0, limit)) {
    const kind = kindOf(line);
    const sign = kind === "added" || kind === "removed" ? line.charAt(0) : "";
    const rest = sign || line.startsWith(" ") ? line.slice(1) : line;
    box.append(
      h("div", { class: `diff-line diff-${kind}` }, h("span", { class: "diff-sign" }, sign), h("span", {}, visible(rest))),
    );
  }
  if (lines.length > limit) box.append(h("div", { class: "diff-line diff-note" }, `… ${lines.length - limit} more lines`));
  return box;
}

/** `+3 −1`, named for screen readers. */
export function countsLabel({ added, removed }: Counts): HTMLElement {
  const label = h("span", { class: "counts" });
  if (added > 0) label.append(h("span", { class: "count-added", "aria-hidden": "true" }, `+${added}`));
  if (removed > 0) label.append(h("span", { class: "count-removed", "aria-hidden": "true" }, `−${removed}`));
  label.append(h("span", { class: "unseen" }, `${added} lines added, ${removed} removed`));
  return label;
}
