/** The extension's settings. */
import * as vscode from "vscode";

export interface Settings {
  path: string | string[];
  env: Record<string, string>;
  settings: Record<string, unknown>;
  autostart: boolean;
  enterSends: boolean;
  showThoughts: boolean;
  permissionDialog: "dialog" | "chat";
}

export function settings(): Settings {
  const section = vscode.workspace.getConfiguration("agentls");
  return {
    path: section.get<string | string[]>("path", ""),
    env: section.get<Record<string, string>>("env", {}),
    settings: section.get<Record<string, unknown>>("settings", {}),
    autostart: section.get<boolean>("autostart", true),
    enterSends: section.get<boolean>("enterSends", true),
    showThoughts: section.get<boolean>("showThoughts", false),
    permissionDialog: section.get<"dialog" | "chat">("permissionDialog", "dialog"),
  };
}
