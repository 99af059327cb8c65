/** The entry point: brings the parts of the extension together. */
import type * as vscode from "vscode";

export function activate(_context: vscode.ExtensionContext): void {}
