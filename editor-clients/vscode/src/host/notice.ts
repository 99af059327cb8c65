/** What the server wants the user to be told. */
import * as vscode from "vscode";
import type { NoticeParams } from "../protocol";

export function notice({ severity, title, description }: NoticeParams): void {
  const words = description === undefined ? title : `${title}: ${description}`;
  if (severity === "error") void vscode.window.showErrorMessage(words);
  else if (severity === "warning") void vscode.window.showWarningMessage(words);
  else void vscode.window.showInformationMessage(words);
}
