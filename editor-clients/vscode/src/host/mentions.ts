/** What words with `@` stand for that were typed and not chosen from the list. */
import * as vscode from "vscode";
import { join } from "node:path";
import type { PromptParams } from "../protocol";
import type { Draft } from "../shared/messages";
import { diagnosticsChip, fileChip, selectionChip } from "./convert";

type Part = PromptParams["parts"][number];

/** The words behind `@`, each with the form that it has without the sentence's marks. */
export function mentions(text: string): [word: string, bare: string][] {
  const words = [...text.matchAll(/(?:^|\s)@(\S+)/g)].map((match) => match[1] ?? "");
  return [...new Set(words)].map((word) => [word, word.replace(/[,;:.!?)]+$/, "")]);
}

async function isFile(uri: vscode.Uri): Promise<boolean> {
  try {
    return ((await vscode.workspace.fs.stat(uri)).type & (vscode.FileType.File | vscode.FileType.Directory)) !== 0;
  } catch {
    return false;
  }
}

async function partOf([word, bare]: [string, string], directory: string, editor: vscode.TextEditor | undefined): Promise<Part | undefined> {
  if (bare === "selection") return editor && selectionChip(editor)?.part;
  if (bare === "diagnostics") return editor && diagnosticsChip(editor.document.uri)?.part;
  for (const path of new Set([word, bare])) {
    const uri = vscode.Uri.file(path.startsWith("/") ? path : join(directory, path));
    if (await isFile(uri)) return fileChip(uri).part;
  }
  return undefined;
}

/** The words of a prompt and its chips. */
export function bareParts({ text, chips }: Draft): Part[] {
  const words: Part[] = text.trim() === "" ? [] : [{ type: "text", text }];
  return [...words, ...chips.map(({ part }) => part)];
}

/** The parts of a prompt: its words, its chips, and what its words with `@` name. */
export async function partsOf(draft: Draft, directory: string, editor: vscode.TextEditor | undefined): Promise<Part[]> {
  const chosen = new Set(draft.chips.map(({ label }) => label));
  const typed = mentions(draft.text).filter(([word, bare]) => !chosen.has(`@${word}`) && !chosen.has(`@${bare}`));
  const found = await Promise.all(typed.map((mention) => partOf(mention, directory, editor)));
  return [...bareParts(draft), ...found.filter((part) => part !== undefined)];
}
