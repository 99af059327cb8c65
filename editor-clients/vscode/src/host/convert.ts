/** What the editor has, in the protocol's form. */
import * as vscode from "vscode";
import type { DiagnosticInput, DiagnosticsInputInput, LineRangeInput, SelectionInputInput } from "../protocol";
import type { Chip } from "../shared/messages";

export function rangeOf(range: vscode.Range): LineRangeInput {
  return {
    start: { line: range.start.line, character: range.start.character },
    end: { line: range.end.line, character: range.end.character },
  };
}

export function editorRange(range: LineRangeInput): vscode.Range {
  return new vscode.Range(range.start.line, range.start.character ?? 0, range.end.line, range.end.character ?? 0);
}

/** LSP counts from 1. */
function severityOf(severity: vscode.DiagnosticSeverity): 1 | 2 | 3 | 4 {
  switch (severity) {
    case vscode.DiagnosticSeverity.Error:
      return 1;
    case vscode.DiagnosticSeverity.Warning:
      return 2;
    case vscode.DiagnosticSeverity.Information:
      return 3;
    case vscode.DiagnosticSeverity.Hint:
      return 4;
  }
}

function codeOf({ code }: vscode.Diagnostic): string | number | undefined {
  return typeof code === "object" ? code.value : code;
}

export function diagnosticOf(diagnostic: vscode.Diagnostic): DiagnosticInput & Record<string, unknown> {
  const code = codeOf(diagnostic);
  return {
    message: diagnostic.message,
    range: rangeOf(diagnostic.range),
    severity: severityOf(diagnostic.severity),
    ...(diagnostic.source === undefined ? {} : { source: diagnostic.source }),
    ...(code === undefined ? {} : { code }),
  };
}

/** The path below its folder, with the folder's name if there are several. */
export function nameOf(uri: vscode.Uri): string {
  return vscode.workspace.asRelativePath(uri);
}

/** Documents that the server gets to see: see the client's selector. */
export function isText(uri: vscode.Uri): boolean {
  return uri.scheme === "file" || uri.scheme === "untitled";
}

export function fileChip(uri: vscode.Uri): Chip {
  const name = nameOf(uri);
  return { label: name, title: `The file ${name}`, part: { type: "file", uri: uri.toString() } };
}

/** Absent if nothing is selected. A selection that ends at the start of a line does not count that line. */
export function selectionChip(editor: vscode.TextEditor): Chip | undefined {
  const { document, selection } = editor;
  if (selection.isEmpty || !isText(document.uri)) return undefined;
  const last = selection.end.character === 0 ? selection.end.line : selection.end.line + 1;
  const lines = selection.start.line + 1 === last ? `${last}` : `${selection.start.line + 1}-${last}`;
  const name = nameOf(document.uri);
  const part: SelectionInputInput = {
    type: "selection",
    uri: document.uri.toString(),
    range: rangeOf(selection),
    text: document.getText(selection),
    version: document.version,
  };
  return { label: `${name}:${lines}`, title: `The selection in ${name}, lines ${lines}`, part };
}

/** Absent if there are none. */
export function diagnosticsChip(uri: vscode.Uri): Chip | undefined {
  const items = vscode.languages.getDiagnostics(uri).map(diagnosticOf);
  if (items.length === 0) return undefined;
  const name = nameOf(uri);
  const count = items.length === 1 ? "1 problem" : `${items.length} problems`;
  const part: DiagnosticsInputInput = { type: "diagnostics", uri: uri.toString(), items };
  return { label: `${name}: ${count}`, title: `${count} that the editor shows in ${name}`, part };
}
