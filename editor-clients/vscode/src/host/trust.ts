/** Trust: the editor's word goes to the server, which runs nothing of a folder's settings without it. */
import * as vscode from "vscode";
import { requestError } from "./failure";
import { folders } from "./folders";
import type { Server } from "./server";

/** The user trusted the workspace just now. */
export async function passOn(server: Server): Promise<void> {
  if (!server.up) return;
  try {
    await Promise.all(folders().map(({ path }) => server.request("workspace/trust", { directory: path, trusted: true })));
  } catch (error) {
    const { kind, message } = requestError(error);
    if (kind === "gone" || kind === "unavailable") return; // the next one is told when it starts
    void vscode.window.showErrorMessage(`The server does not know that you trust this workspace: ${message} Restart the server to tell it anew.`);
  }
}

/** Asks, and tells the server. */
export async function askTrust(server: Server, directory: string): Promise<boolean> {
  if (!vscode.workspace.isTrusted) {
    await vscode.commands.executeCommand("workbench.trust.manage");
    return false;
  }
  const yes = "Trust";
  const detail = "Its settings may then run programs, name other servers for what you write, and allow things unasked. It counts for the settings as they are now.";
  const chosen = await vscode.window.showWarningMessage(`Trust ${directory}?`, { modal: true, detail }, yes);
  if (chosen !== yes) return false;
  try {
    const { trusted } = await server.request("workspace/trust", { directory, trusted: true });
    return trusted;
  } catch (error) {
    void vscode.window.showErrorMessage(`The folder is not trusted: ${requestError(error).message}`);
    return false;
  }
}
