/** Diffs in the editor's own diff editor: of what a permission asks for, and of what a tool has done. */
import * as vscode from "vscode";
import type { FileDiff, Permission } from "../protocol";
import { applied, reversed } from "./patch";
import { nameOf } from "./convert";

/** Of what is asked: the title bar of such a diff offers the answers. */
export const ASK_SCHEME = "agentls-ask";
const DONE_SCHEME = "agentls-done";

interface Sides {
  before: string;
  after: string;
}

/** The text that the user sees, unsaved changes included; empty if there is no such file. */
async function textOf(uri: vscode.Uri): Promise<string> {
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (open) return open.getText().replaceAll("\r\n", "\n");
  try {
    const bytes = await vscode.workspace.fs.readFile(uri);
    return new TextDecoder().decode(bytes).replaceAll("\r\n", "\n");
  } catch {
    return "";
  }
}

/** Where the patch is not about the text as it is now, the patch itself is shown. */
async function sidesOf(file: FileDiff, done: boolean): Promise<Sides> {
  const text = await textOf(vscode.Uri.parse(file.uri));
  const other = applied(text, done ? reversed(file.patch) : file.patch);
  if (other === undefined) return { before: "", after: file.patch };
  return done ? { before: other, after: text } : { before: text, after: other };
}

export class Diffs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #titles = new Map<string, string>();
  readonly #subscriptions: vscode.Disposable[];

  constructor() {
    this.#subscriptions = [ASK_SCHEME, DONE_SCHEME].map((scheme) => vscode.workspace.registerTextDocumentContentProvider(scheme, this));
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? "";
  }

  /** Shows what is asked beside the user's editor. The focus stays where it is unless `focus`. */
  async showAsked(ask: Permission, focus: boolean): Promise<void> {
    const title = ask.metadata.files?.length === 1 ? "asked" : ask.title;
    await this.#show({ scheme: ASK_SCHEME, id: ask.permissionId, title }, ask.metadata.files ?? [], focus);
  }

  async showDone(id: string, files: readonly FileDiff[]): Promise<void> {
    await this.#show({ scheme: DONE_SCHEME, id, title: "done" }, files, true);
  }

  /** The permission whose diff the user looks at. */
  get asked(): string | undefined {
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    return input instanceof vscode.TabInputTextDiff && input.modified.scheme === ASK_SCHEME ? askOf(input.modified) : undefined;
  }

  /** Takes a diff away again. */
  async close(id: string): Promise<void> {
    const title = this.#titles.get(id);
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const ours = tabs.filter(({ input, label }) => (input instanceof vscode.TabInputTextDiff ? isOf(input.modified, id) : label === title && input === undefined));
    if (ours.length > 0) await vscode.window.tabGroups.close(ours, true);
    for (const key of this.#texts.keys()) {
      if (isOf(vscode.Uri.parse(key), id)) this.#texts.delete(key);
    }
    this.#titles.delete(id);
  }

  dispose(): void {
    for (const one of this.#subscriptions) one.dispose();
  }

  async #show(what: { scheme: string; id: string; title: string }, files: readonly FileDiff[], focus: boolean): Promise<void> {
    const resources = await Promise.all(files.map((file) => this.#resource(what, file)));
    const options: vscode.TextDocumentShowOptions = { preserveFocus: !focus, preview: true, viewColumn: vscode.ViewColumn.Beside };
    const [only, ...others] = resources;
    if (only === undefined) return;
    if (others.length === 0) {
      const title = `${nameOf(only.file)} (agentls: ${what.title})`;
      await vscode.commands.executeCommand("vscode.diff", only.before, only.after, title, options);
      return;
    }
    const title = `agentls: ${what.title}`;
    this.#titles.set(what.id, title);
    await vscode.commands.executeCommand("vscode.changes", title, resources.map(({ file, before, after }) => [file, before, after]));
  }

  async #resource({ scheme, id }: { scheme: string; id: string }, file: FileDiff): Promise<{ file: vscode.Uri; before: vscode.Uri; after: vscode.Uri }> {
    const uri = vscode.Uri.parse(file.uri);
    const sides = await sidesOf(file, scheme === DONE_SCHEME);
    const side = (name: keyof Sides) => {
      const own = uri.with({ scheme, authority: "", query: `${id}&${name}` });
      this.#texts.set(own.toString(), sides[name]);
      return own;
    };
    return { file: uri, before: side("before"), after: side("after") };
  }
}

function askOf(uri: vscode.Uri): string | undefined {
  return uri.query.split("&")[0];
}

function isOf(uri: vscode.Uri, id: string): boolean {
  return (uri.scheme === ASK_SCHEME || uri.scheme === DONE_SCHEME) && askOf(uri) === id;
}
