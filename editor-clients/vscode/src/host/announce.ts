/**
 * Tells of a permission or question without taking the focus.
 *
 * A message with buttons cannot be taken away by an extension once it is shown, and a quick pick takes the focus. The
 * notification of a progress can be ended, takes no focus, and its links run commands: so it is the one that is used.
 */
import * as vscode from "vscode";
import { deedOf } from "./permission";
import { beforeLinks, fitsOneLine, oneLine } from "./plain";
import { idOf, isPermission, type Ask } from "./queue";

const MOST = 160;

// VS Code takes the words of the button here, though its types know a boolean only; where it did not, it would say "Cancel".
const LATER = "Later" as unknown as boolean;

function link(words: string, command: string, id: string): string {
  return `[${words}](command:${command}?${encodeURIComponent(JSON.stringify([id]))})`;
}

/** What cannot be read in full here cannot be allowed here. */
function links(ask: Ask): string[] {
  const id = idOf(ask);
  if (!isPermission(ask)) return [link("Answer", "agentls.answer", id)];
  const whole = fitsOneLine(deedOf(ask), MOST);
  const allow = whole ? [link("Allow once", "agentls.allowOnce", id), link("Always…", "agentls.allowAlways", id)] : [];
  const offered = ask.options.some((option) => option.kind === "always") ? allow : allow.slice(0, 1);
  return [...offered, link("Reject…", "agentls.reject", id), link(whole ? "More" : "Read and answer", "agentls.answer", id)];
}

export function announcement(ask: Ask, count: number): string {
  const [words, kind] = isPermission(ask) ? [deedOf(ask), ask.permission] : [ask.questions[0]?.question ?? "", "question"];
  const more = count > 1 ? ` (1 of ${count})` : "";
  return `agentls asks${more} · ${beforeLinks(oneLine(words, MOST), oneLine(kind, MOST))}  ${links(ask).join(" · ")}`;
}

export class Announcement {
  #end: () => void = () => undefined;

  constructor(text: string, closed: () => void) {
    const gone = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    const options = { location: vscode.ProgressLocation.Notification, title: text, cancellable: LATER };
    void vscode.window.withProgress(options, (progress, token) => {
      progress.report({ increment: 0 }); // a bar that stands still: nothing is under way
      token.onCancellationRequested(() => {
        this.withdraw();
        closed();
      });
      return gone;
    });
  }

  withdraw(): void {
    this.#end();
  }
}
