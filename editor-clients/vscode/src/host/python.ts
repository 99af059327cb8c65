/** The environment that the Python extension has chosen for a folder, if that extension is there. */
import * as vscode from "vscode";

/** What we use of its API. */
interface PythonApi {
  environments?: {
    getActiveEnvironmentPath?(resource: vscode.Uri): { path?: string } | undefined;
  };
}

/** The interpreters, or folders of environments, as paths of interpreters. */
export async function pythonsOf(folders: readonly string[]): Promise<string[]> {
  const extension = vscode.extensions.getExtension<PythonApi | undefined>("ms-python.python");
  if (extension === undefined || folders.length === 0) return [];
  try {
    const api = await extension.activate();
    const paths = folders.map((folder) => api?.environments?.getActiveEnvironmentPath?.(vscode.Uri.file(folder))?.path);
    return [...new Set(paths.filter((path) => path !== undefined))].filter((path) => path.startsWith("/"));
  } catch {
    return []; // it is broken, which is not ours to tell
  }
}
