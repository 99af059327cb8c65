/** What the server asks of the editor: to save, which diagnostics it shows, what the user looks at. */
import * as vscode from "vscode";
import type { ContextResult, DiagnosticsParams, DiagnosticsResult, DocumentDiagnostics, SaveParams, SaveResult } from "../protocol";
import type { EditorHandlers } from "./client";
import { diagnosticOf, isText, rangeOf } from "./convert";

function documentOf(uri: string): vscode.TextDocument | undefined {
  const wanted = vscode.Uri.parse(uri).toString();
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === wanted);
}

/** Saves that version and no other: what the user typed since is theirs to save. */
async function save({ uri, version }: SaveParams): Promise<SaveResult> {
  const document = documentOf(uri);
  if (document === undefined || document.isUntitled || document.version !== version) return { saved: false };
  return { saved: await document.save() };
}

function openFiles(): string[] {
  const inputs = vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.input));
  const uris = inputs.filter((input) => input instanceof vscode.TabInputText).map((input) => input.uri);
  return [...new Set(uris.filter(isText).map(String))];
}

/**
 * Without a version: several programs judge a document, each at its own pace, and the editor does not say which text
 * an item is of.
 */
function judged(uri: vscode.Uri, items: readonly vscode.Diagnostic[]): DocumentDiagnostics {
  return { uri: uri.toString(), items: items.map(diagnosticOf) };
}

function diagnostics({ uri }: DiagnosticsParams): DiagnosticsResult {
  if (uri !== undefined) {
    const one = vscode.Uri.parse(uri);
    return { documents: [judged(one, vscode.languages.getDiagnostics(one))] };
  }
  const shown = vscode.languages.getDiagnostics().filter(([one, items]) => isText(one) && items.length > 0);
  return { documents: shown.map(([one, items]) => judged(one, items)) };
}

export class Editor implements vscode.Disposable {
  readonly #subscriptions: vscode.Disposable[];
  #last = vscode.window.activeTextEditor;

  constructor() {
    this.#subscriptions = [
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        if (editor && isText(editor.document.uri)) this.#last = editor;
      }),
    ];
  }

  /** The editor of text that the user is in, or was in before the chat. */
  get current(): vscode.TextEditor | undefined {
    const { activeTextEditor, visibleTextEditors } = vscode.window;
    if (activeTextEditor && isText(activeTextEditor.document.uri)) return activeTextEditor;
    const last = this.#last;
    return last && (visibleTextEditors.includes(last) || !last.document.isClosed) ? last : undefined;
  }

  readonly handlers: EditorHandlers = {
    "document/save": save,
    "editor/diagnostics": (params) => Promise.resolve(diagnostics(params)),
    "editor/context": () => Promise.resolve(this.#context()),
  };

  dispose(): void {
    for (const one of this.#subscriptions) one.dispose();
  }

  #context(): ContextResult {
    const editor = this.current;
    const here = editor ? { uri: editor.document.uri.toString(), selection: rangeOf(editor.selection) } : {};
    return { ...here, open: openFiles() };
  }
}
