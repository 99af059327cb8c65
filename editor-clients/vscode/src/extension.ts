/** The entry point. */
import type * as vscode from "vscode";
import { Window } from "./host/window";

let window: Window | undefined;

export function activate(context: vscode.ExtensionContext): void {
  window = new Window(context);
  context.subscriptions.push(window);
  window.begin();
}

export async function deactivate(): Promise<void> {
  await window?.stop();
}
