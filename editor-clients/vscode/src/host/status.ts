/** The item in the status bar: what the agent does, and by a click what is right to do about it. */
import * as vscode from "vscode";
import type { Problem } from "../protocol";
import type { Mode, ServerView, SessionRow } from "../shared/messages";

export interface Facts {
  server: ServerView;
  /** Of the current chat's session. */
  status: SessionRow["status"];
  mode: Mode;
  /** Questions that wait. */
  asks: number;
  /** Other sessions that work. */
  others: number;
  problems: readonly Problem[];
}

export interface Face {
  text: string;
  words: string;
  command: string;
  alarm?: "warning" | "error";
}

function working({ status, mode, others }: Facts): Face {
  const more = others > 0 ? ` +${others}` : "";
  const busy = { command: "agentls.openChat", words: "The agent works" };
  switch (status) {
    case "busy":
      return { ...busy, text: `$(sync~spin) agentls: working${more}` };
    case "compacting":
      return { ...busy, text: `$(sync~spin) agentls: summarizing${more}` };
    case "retry":
      return { ...busy, text: `$(sync~spin) agentls: waiting for the model${more}`, words: "The model's server did not answer; it is tried again" };
    case "waiting":
    case "idle":
      return others > 0
        ? { text: `$(sync~spin) agentls: ${others} working`, words: `${others} sessions work`, command: "agentls.sessions" }
        : { text: `$(sparkle) agentls: ${mode}`, words: `The agent is ready, mode ${mode}`, command: "agentls.openChat" };
  }
}

export function faceOf(facts: Facts): Face {
  const { server, asks } = facts;
  const reason = server.reason ?? "";
  switch (server.state) {
    case "failed":
      return { text: "$(error) agentls", words: reason, command: "agentls.mend", alarm: "error" };
    case "down":
      return { text: "$(circle-slash) agentls", words: reason === "" ? "agentls does not run; a click starts it" : reason, command: "agentls.openChat" };
    case "starting":
      return { text: "$(loading~spin) agentls", words: reason === "" ? "agentls is starting" : reason, command: "agentls.showLog" };
    case "up":
      if (asks === 0) return working(facts);
      return { text: `$(bell-dot) agentls: ${asks === 1 ? "1 question" : `${asks} questions`}`, words: "The agent waits for your answer", command: "agentls.answer", alarm: "warning" };
  }
}

/** The tooltip: plain text, for problems quote files. */
export function tooltipOf(face: Face, problems: readonly Problem[]): string {
  const lines = problems.map(({ message, path, line }) => `${message}${path === undefined ? "" : ` (${path}${line === undefined ? "" : `:${line}`})`}`);
  return [face.words, ...lines].join("\n\n");
}

export class StatusItem implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("agentls.status", vscode.StatusBarAlignment.Left, 0);

  constructor() {
    this.#item.name = "agentls";
    this.#item.show();
  }

  tell(facts: Facts): void {
    const face = faceOf(facts);
    const item = this.#item;
    item.text = face.text;
    item.tooltip = tooltipOf(face, facts.problems);
    item.command = face.command;
    item.backgroundColor = face.alarm === undefined ? undefined : new vscode.ThemeColor(`statusBarItem.${face.alarm}Background`);
    item.accessibilityInformation = { label: `agentls: ${face.words}`, role: "button" };
  }

  dispose(): void {
    this.#item.dispose();
  }
}
