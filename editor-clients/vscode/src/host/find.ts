/** Where the server's program is: what the setting says, then what stands in the usual places. */
import { basename, isAbsolute, join } from "node:path";
import type { Remedy } from "../shared/messages";

export interface Program {
  command: string;
  args: string[];
  /** Fetches the package when it starts: slower at first, and it needs the network then. */
  fetches: boolean;
}

/** What a person is told, and what they can do. */
export interface Problem {
  reason: string;
  remedies: Remedy[];
}

export interface Surroundings {
  /** `agentls.path`: empty, a path, or a command with its arguments; if the user wrote something else, that. */
  setting: unknown;
  /** The workspace's folders; none unless they are trusted, for their programs are run. */
  folders: readonly string[];
  /** Interpreters that the Python extension names for them. */
  pythons: readonly string[];
  /** `PATH`. */
  path: string;
  home: string;
  executable(path: string): Promise<boolean>;
}

export type Found = { program: Program } | { problem: Problem };

/** A way to get the server. None is gone unasked: whoever owns its name in an index would run code here. */
export interface Way {
  label: string;
  description: string;
  /** The program that it takes. */
  by: "uv" | "uvx" | "pipx";
  /** The setting `agentls.path` for it; absent if the label is a command that installs. */
  path?: string[];
}

const WAYS: readonly Way[] = [
  { by: "uv", label: "uv tool install agentls", description: "in a terminal; uv brings its own Python if need be" },
  { by: "pipx", label: "pipx install agentls", description: "in a terminal; needs Python 3.11 or newer" },
  { by: "uvx", label: "Run with uvx", description: "fetched from the Python package index when it starts, not installed", path: ["uvx", "agentls"] },
  { by: "pipx", label: "Run with pipx", description: "fetched from the Python package index when it starts, not installed", path: ["pipx", "run", "agentls"] },
];
const WHERE = "agentls was not found: not in the workspace's .venv, not in the Python environment, not on the PATH";
const FETCHING = new Set(["uvx", "pipx"]);

/** Where installers of tools put programs, which a desktop's PATH often lacks. */
const USUAL = [".local/bin", ".cargo/bin"];

async function first(paths: Iterable<string>, around: Surroundings): Promise<string | undefined> {
  for (const path of paths) {
    if (await around.executable(path)) return path;
  }
  return undefined;
}

function onPath(name: string, around: Surroundings): string[] {
  const folders = around.path.split(":").filter(isAbsolute);
  return [...folders, ...USUAL.map((folder) => join(around.home, folder))].map((folder) => join(folder, name));
}

function program(command: string, ...args: string[]): Found {
  return { program: { command, args, fetches: FETCHING.has(basename(command)) } };
}

/** Absent if it is no setting of ours. */
function wordsOf(setting: unknown): string[] | undefined {
  const words: unknown[] = Array.isArray(setting) ? setting : [setting];
  if (!words.every((word) => typeof word === "string")) return undefined;
  return words.map((word, index) => (index === 0 ? word.trim() : word));
}

async function named(setting: readonly string[], around: Surroundings): Promise<Found> {
  const [name = "", ...args] = setting;
  const full = name.replace(/^~(?=\/|$)/, around.home);
  const command = await first(isAbsolute(full) ? [full] : full.includes("/") ? [] : onPath(full, around), around);
  if (command !== undefined) return program(command, ...args);
  const why = full.includes("/") && !isAbsolute(full) ? "is not an absolute path" : "cannot be run";
  return { problem: { reason: `The setting agentls.path names ${name}, which ${why}. Correct it.`, remedies: ["choosePath", "readme"] } };
}

/** The ways that can be gone on this machine. */
export async function waysToGet(around: Surroundings): Promise<Way[]> {
  const there = await Promise.all(WAYS.map(({ by }) => first(onPath(by, around), around)));
  return WAYS.filter((_, index) => there[index] !== undefined);
}

async function missing(around: Surroundings): Promise<Problem> {
  if ((await waysToGet(around)).length > 0) {
    return { reason: `${WHERE}. Install it, run it with uvx or pipx, or choose where it is.`, remedies: ["install", "choosePath", "readme", "restart"] };
  }
  const python = await first(["python3", "python"].flatMap((name) => onPath(name, around)), around);
  const reason =
    python === undefined
      ? `${WHERE}. No Python was found either; agentls needs Python 3.11 or newer, and uv (docs.astral.sh/uv) brings both.`
      : `${WHERE}, and neither uvx nor pipx, which could fetch it. Install uv or pipx, or choose where agentls is.`;
  return { reason, remedies: ["choosePath", "readme", "restart"] };
}

export async function findServer(around: Surroundings): Promise<Found> {
  const setting = wordsOf(around.setting);
  if (setting === undefined) {
    const reason = "The setting agentls.path is neither a path nor a list of a command and its arguments. Correct it.";
    return { problem: { reason, remedies: ["choosePath", "readme"] } };
  }
  if (setting[0]) return named(setting, around);
  const own = await first(
    [
      ...around.folders.map((folder) => join(folder, ".venv/bin/agentls")),
      ...around.pythons.map((python) => join(python, "../agentls")),
      ...onPath("agentls", around),
    ],
    around,
  );
  return own === undefined ? { problem: await missing(around) } : program(own);
}

/** What a program that could not be started, or that ended before it said anything, means for a person. */
export function startProblem(from: Program, how: string): Problem {
  const line = [from.command, ...from.args].join(" ");
  if (from.fetches) {
    return {
      reason: `agentls is not installed here, and \`${line}\` could not fetch it: ${how}. Install it, or choose where it is.`,
      remedies: ["install", "choosePath", "readme", "restart"],
    };
  }
  return { reason: `${line}: ${how}.`, remedies: ["restart", "log", "install", "choosePath"] };
}

/** Why the system refused to run a program. */
export function spawnFailure(command: string, code: string | undefined): string {
  if (code === "ENOENT") return "it cannot be run: the Python that it was installed with is gone. Install agentls again";
  if (code === "EACCES") return "it may not be run (permission denied)";
  return `it could not be started (${code ?? `unknown error with ${command}`})`;
}
