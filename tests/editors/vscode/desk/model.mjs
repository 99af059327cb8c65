/** The scripted model: `tests/fakes/openai_server.py` as a process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { SERVER, TESTS } from "./places.mjs";

export class Model {
  static async start(folder) {
    const script = join(folder, "script.json");
    const log = join(folder, "model.log");
    writeFileSync(script, "[]");
    writeFileSync(log, "");
    const program = join(dirname(SERVER), "python");
    const child = spawn(program, ["-m", "fakes.openai_server", "--script", script, "--log", log], {
      cwd: TESTS,
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [url] = await once(createInterface(child.stdout), "line");
    return new Model(child, log, url);
  }

  constructor(child, log, url) {
    this.child = child;
    this.log = log;
    this.url = url;
    this.before = 0;
  }

  /** What it answers from now on, one item a request. */
  async plays(...script) {
    this.before = this.#all().length;
    await this.#post("/script", script);
  }

  async open(gate) {
    await this.#post(`/gate/${gate}`, {});
  }

  /** The bodies of what was asked since `plays`. */
  requests() {
    return this.#all().slice(this.before);
  }

  /** All that was said in the last request. */
  heard() {
    return JSON.stringify(this.requests().at(-1)?.messages ?? []);
  }

  async close() {
    const gone = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await gone;
  }

  #all() {
    const lines = readFileSync(this.log, "utf8").split("\n");
    return lines.filter(Boolean).map((line) => JSON.parse(JSON.parse(line).body));
  }

  async #post(path, value) {
    const answer = await fetch(this.url.replace(/\/v1$/, path), { method: "POST", body: JSON.stringify(value) });
    if (!answer.ok) throw new Error(`the scripted model did not take ${path}`);
  }
}

export const says = (text, deltas = 1) => ({ text, deltas });

/** Says `before`, waits until the gate is opened, says `after`. */
export const gated = (before, gate, after = "") => ({
  events: [
    { delta: { content: before } },
    { gate },
    ...(after ? [{ delta: { content: after } }] : []),
    { finish: "stop" },
    "done",
  ],
});

/** Says so, and then nothing more until the other side goes. */
export const hangs = (text) => ({ events: [{ delta: { content: text } }, "hang"] });

export const calls = (name, ...all) => ({ calls: all.map((given) => ({ name, arguments: given })) });

export const bash = (...commands) => calls("bash", ...commands.map((command) => ({ command })));

/** A call that comes only when the gate is opened. */
export const gatedCall = (gate, name, given) => {
  const called = { name, arguments: JSON.stringify(given) };
  const delta = { tool_calls: [{ index: 0, id: "call_1", type: "function", function: called }] };
  return { events: [{ gate }, { delta }, { finish: "tool_calls" }, "done"] };
};
