/** Code actions are the server's; what they send goes through the chat, so that the user sees it and its answer. */
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import type { DiagnosticsInputInput, LineRangeInput, TextInput } from "../protocol";
import type { Draft } from "../shared/messages";
import { editorRange, nameOf } from "./convert";

/** The command of the server's code actions; its argument is a prompt whose selections have no text yet. */
const PROMPT = "agentls.prompt";

interface Place {
  type: "selection";
  uri: string;
  range: LineRangeInput;
}
type Part = TextInput | Place | DiagnosticsInputInput;
type Chips = Draft["chips"];

async function chipsOf(part: Part): Promise<Chips> {
  if (part.type === "text") return [];
  const uri = vscode.Uri.parse(part.uri);
  const name = nameOf(uri);
  if (part.type === "diagnostics") return [{ label: `${name}: problem`, title: `A problem that the editor shows in ${name}`, part }];
  const document = await vscode.workspace.openTextDocument(uri);
  const text = document.getText(editorRange(part.range));
  const line = part.range.start.line + 1;
  return [{ label: `${name}:${line}`, title: `Lines of ${name}, from ${line} on`, part: { ...part, text, version: document.version } }];
}

/** Absent if the command was called in another way. */
async function draftOf(given: readonly unknown[]): Promise<Draft | undefined> {
  const [first] = given;
  if (typeof first !== "object" || first === null || !("parts" in first) || !Array.isArray(first.parts)) return undefined;
  const parts = first.parts as Part[];
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).filter((words) => words !== "");
  return { text: text.join("\n\n"), chips: (await Promise.all(parts.map(chipsOf))).flat() };
}

export function actions(prompt: (draft: Draft) => Promise<void>): Middleware {
  return {
    executeCommand: async (command, given: unknown[], next) => {
      const draft = command === PROMPT ? await draftOf(given) : undefined;
      if (draft === undefined) return (await next(command, given)) as unknown;
      await prompt(draft);
      return undefined;
    },
  };
}
