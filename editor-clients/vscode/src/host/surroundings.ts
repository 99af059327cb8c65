/** Where the server's program is looked for, on this machine and in this window. */
import * as vscode from "vscode";
import { access, constants, stat } from "node:fs/promises";
import { homedir } from "node:os";
import type { Surroundings } from "./find";
import { folders } from "./folders";
import { pythonsOf } from "./python";
import { settings } from "./settings";

async function executable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

export async function surroundings(): Promise<Surroundings> {
  const own = vscode.workspace.isTrusted ? folders().map(({ path }) => path) : [];
  return { setting: settings().path, folders: own, pythons: await pythonsOf(own), path: process.env["PATH"] ?? "", home: homedir(), executable };
}
