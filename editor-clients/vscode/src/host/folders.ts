/** The workspace's folders on this machine, and which one is meant. */
import * as vscode from "vscode";
import type { Folder } from "../shared/messages";

export function folders(): Folder[] {
  const all = vscode.workspace.workspaceFolders ?? [];
  return all.filter(({ uri }) => uri.scheme === "file").map(({ name, uri }) => ({ name, path: uri.fsPath }));
}

/** The folder of a file, else the first one. */
export function folderOf(uri: vscode.Uri | undefined): Folder | undefined {
  const own = uri === undefined ? undefined : vscode.workspace.getWorkspaceFolder(uri);
  return own?.uri.scheme === "file" ? { name: own.name, path: own.uri.fsPath } : folders()[0];
}

function within(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** The workspace's folder that a session's directory belongs to; a directory above a folder counts as well. */
export function folderFor(directory: string): Folder | undefined {
  return folders().find(({ path }) => within(directory, path)) ?? folders().find(({ path }) => within(path, directory));
}

/** What the user has decided of the workspace; absent where the editor does not ask. */
export function trusted(): boolean | undefined {
  const asks = vscode.workspace.getConfiguration("security.workspace.trust").get<boolean>("enabled", true);
  return asks ? vscode.workspace.isTrusted : undefined;
}
