/** The server's process: how it starts, and how it ended. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { spawnFailure, type Program } from "./find";

const LAST_WORDS = 2000;
/** A server that is told to end saves first. */
const TO_SAVE = 5000;

export class ServerProcess {
  readonly started = Date.now();
  /** Resolves with how it ended, in words that follow "agentls". */
  readonly ended: Promise<string>;
  #words = "";
  #over = false;

  private constructor(readonly child: ChildProcessWithoutNullStreams) {
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text: string) => {
      this.#words = (this.#words + text).slice(-LAST_WORDS);
    });
    this.ended = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        this.#over = true;
        resolve(signal === null ? `ended with code ${code ?? "unknown"}` : `was killed by ${signal}`);
      });
    });
  }

  /** Rejects with words for a person if the program cannot be run. */
  static start(program: Program, cwd: string | undefined, env: Record<string, string>): Promise<ServerProcess> {
    return new Promise((resolve, reject) => {
      const child = spawn(program.command, program.args, { cwd, env: { ...process.env, ...env }, stdio: "pipe" });
      const running = new ServerProcess(child);
      child.once("spawn", () => {
        resolve(running);
      });
      child.once("error", (error: NodeJS.ErrnoException) => {
        reject(new Error(spawnFailure(program.command, error.code)));
      });
    });
  }

  /** The last line that it wrote to stderr. */
  get lastWords(): string {
    return this.#words.trimEnd().split("\n").at(-1)?.trim() ?? "";
  }

  get over(): boolean {
    return this.#over;
  }

  /** Sees to it that it ends: it had its chance to do so by itself. */
  async end(patience: number): Promise<void> {
    if (await this.#within(patience)) return;
    this.child.kill("SIGTERM");
    if (!(await this.#within(TO_SAVE))) this.child.kill("SIGKILL");
  }

  #within(time: number): Promise<boolean> {
    if (this.#over) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        resolve(false);
      }, time);
      void this.ended.then(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }
}
