/** What is said of tools, times and ends, in words. */
import type { AssistantMessage, ToolPart, Turn } from "../protocol";
import type { IconName } from "./icons";
import { oneLine } from "./dom";

const TOOLS: Partial<Record<string, readonly [name: string, icon: IconName]>> = {
  bash: ["Run", "terminal"],
  edit: ["Edit", "edit"],
  glob: ["Find files", "search"],
  grep: ["Search", "search"],
  list: ["List", "folder"],
  read: ["Read", "read"],
  write: ["Write", "edit"],
  todowrite: ["To do", "todo"],
  question: ["Ask", "question"],
  webfetch: ["Fetch", "globe"],
  task: ["Subtask", "subtask"],
  diagnostics: ["Diagnostics", "warning"],
};

export function toolName(tool: string): string {
  return TOOLS[tool]?.[0] ?? tool;
}

export function toolIcon(tool: string): IconName {
  return TOOLS[tool]?.[1] ?? "tool";
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A path as it is shown: below the folder without it. */
export function shortPath(path: string, folder: string | undefined): string {
  return folder !== undefined && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

export function pathOfUri(uri: string): string {
  if (!uri.startsWith("file://")) return uri;
  const path = uri.replace(/^file:\/\/[^/]*/, "").replace(/[?#].*$/, "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

export function uriOfPath(path: string): string {
  return `file://${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** What a call is about, in few words. */
export function subject(part: ToolPart, folder: string | undefined): string {
  const { state } = part;
  const input: Record<string, unknown> = state.input;
  const path = text(input.filePath) ?? text(input.path);
  const words = [
    part.tool === "bash" ? text(input.command) : undefined,
    "title" in state ? text(state.title) : undefined,
    path && shortPath(path, folder),
    text(input.pattern),
    text(input.url),
    text(input.description),
  ];
  return oneLine(words.find((one) => one !== undefined) ?? "", 300);
}

/** How long something took: nothing under a second. */
export function duration(time: { start?: number; end?: number } | undefined): string {
  if (time?.start === undefined || time.end === undefined) return "";
  const seconds = (time.end - time.start) / 1000;
  if (seconds < 1) return "";
  if (seconds < 60) return `${seconds.toFixed(0)} s`;
  return `${Math.floor(seconds / 60)} min ${String(Math.floor(seconds % 60)).padStart(2, "0")} s`;
}

export type StopReason = NonNullable<Turn["stopReason"]>;

/** How a turn ended and what can be done now; nothing is said of one that is done. */
export const ENDINGS: Record<StopReason, { said: string; hint?: string; action?: string; bad?: boolean } | undefined> = {
  done: undefined,
  cancelled: { said: "Stopped", action: "Continue" },
  rejected: { said: "Stopped: you said no", hint: "Say below what to do instead." },
  max_steps: { said: "Stopped at the limit of steps", action: "Continue" },
  length: { said: "Cut off at the limit of length", action: "Continue" },
  content_filter: { said: "Stopped by the content filter", hint: "Say it in other words below.", bad: true },
  error: { said: "Failed", action: "Try again", bad: true },
};

export function modelName(model: AssistantMessage["model"]): string {
  return model.variant === undefined ? model.modelId : `${model.modelId} (${model.variant})`;
}

export const MODES = { ask: "Ask first", acceptEdits: "Accept edits", auto: "Auto" } as const;

export function ago(time: number, now: number): string {
  const minutes = Math.floor((now - time) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  return `${Math.floor(minutes / (24 * 60))} d`;
}
