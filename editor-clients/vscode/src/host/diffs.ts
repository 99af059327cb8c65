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

/** A diff that is shown, or on its way. */
interface Shown {
  readonly texts: Map<string, string>;
  /** Of several files: its tab is known by this alone. */
  title?: string;
  opening: number;
}

interface What {
  scheme: typeof ASK_SCHEME | typeof DONE_SCHEME;
  id: string;
  title: string;
}

interface Resource {
  file: vscode.Uri;
  before: vscode.Uri;
  after: vscode.Uri;
}

export class Diffs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  /** By the permission or part that they are of. */
  readonly #shown = new Map<string, Shown>();
  readonly #subscriptions: vscode.Disposable[];

  constructor() {
    this.#subscriptions = [
      ...[ASK_SCHEME, DONE_SCHEME].map((scheme) => vscode.workspace.registerTextDocumentContentProvider(scheme, this)),
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
        if (closed.length > 0) this.#forget();
      }),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#shown.get(idOf(uri))?.texts.get(uri.toString()) ?? "";
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
    return input instanceof vscode.TabInputTextDiff && input.modified.scheme === ASK_SCHEME ? idOf(input.modified) : undefined;
  }

  /** Takes a diff away again, also one that is on its way. */
  async close(id: string): Promise<void> {
    const shown = this.#shown.get(id);
    this.#shown.delete(id);
    if (shown) await closeTabs(id, shown);
  }

  dispose(): void {
    for (const one of this.#subscriptions) one.dispose();
  }

  async #show(what: What, files: readonly FileDiff[], focus: boolean): Promise<void> {
    const { id } = what;
    const shown: Shown = this.#shown.get(id) ?? { texts: new Map(), opening: 0 };
    this.#shown.set(id, shown);
    shown.opening += 1;
    try {
      const resources = await Promise.all(files.map((file) => resourceOf(shown, what, file)));
      if (this.#shown.get(id) === shown) await open(shown, what.title, resources, focus);
      if (this.#shown.get(id) !== shown) await closeTabs(id, shown); // settled meanwhile
    } finally {
      shown.opening -= 1;
    }
  }

  /** The texts of what no tab shows any more are whole files. */
  #forget(): void {
    for (const [id, shown] of this.#shown) {
      if (shown.opening === 0 && tabsOf(id, shown).length === 0) this.#shown.delete(id);
    }
  }
}

function tabsOf(id: string, { title }: Shown): vscode.Tab[] {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.filter(({ input, label }) => (input instanceof vscode.TabInputTextDiff ? isOf(input.modified, id) : input === undefined && label === title));
}

async function closeTabs(id: string, shown: Shown): Promise<void> {
  const tabs = tabsOf(id, shown);
  if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
}

async function open(shown: Shown, words: string, resources: readonly Resource[], focus: boolean): Promise<void> {
  const [only, ...others] = resources;
  if (only === undefined) return;
  if (others.length > 0) {
    shown.title = `agentls: ${words}`;
    await vscode.commands.executeCommand("vscode.changes", shown.title, resources.map(({ file, before, after }) => [file, before, after]));
    return;
  }
  const options: vscode.TextDocumentShowOptions = { preserveFocus: !focus, preview: true, viewColumn: vscode.ViewColumn.Beside };
  await vscode.commands.executeCommand("vscode.diff", only.before, only.after, `${nameOf(only.file)} (agentls: ${words})`, options);
}

async function resourceOf({ texts }: Shown, { scheme, id }: What, file: FileDiff): Promise<Resource> {
  const uri = vscode.Uri.parse(file.uri);
  const sides = await sidesOf(file, scheme === DONE_SCHEME);
  const side = (name: keyof Sides) => {
    const own = uri.with({ scheme, authority: "", query: `${id}&${name}` });
    texts.set(own.toString(), sides[name]);
    return own;
  };
  return { file: uri, before: side("before"), after: side("after") };
}

/** Of the permission or part. */
function idOf(uri: vscode.Uri): string {
  return uri.query.split("&")[0] ?? "";
}

function isOf(uri: vscode.Uri, id: string): boolean {
  return (uri.scheme === ASK_SCHEME || uri.scheme === DONE_SCHEME) && idOf(uri) === id;
}
