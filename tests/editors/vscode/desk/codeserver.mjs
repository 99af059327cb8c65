/** code-server: VS Code on loopback, as a process group of its own, with a home of its own. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { CODE_SERVER } from "./places.mjs";
import { until } from "./until.mjs";

/** What keeps an editor quiet. Nothing of the extension under test stands here. */
const QUIET = {
  "chat.disableAIFeatures": true,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "files.autoSave": "off", // as on a desktop
  "git.enabled": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "window.dialogStyle": "custom",
  "workbench.enableExperiments": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
};

async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

export class CodeServer {
  constructor(folder, { env, settings, trustAll }) {
    this.folder = folder;
    this.trustAll = trustAll;
    this.output = "";
    this.env = { ...env, EXTENSIONS_GALLERY: "{}" };
    for (const [place, text] of [
      ["User", { ...QUIET, ...settings }],
      ["Machine", settings], // settings of a machine's own are read from here alone
    ]) {
      mkdirSync(join(folder, "user", place), { recursive: true });
      writeFileSync(join(folder, "user", place, "settings.json"), JSON.stringify(text));
    }
  }

  #options() {
    const { folder } = this;
    return [
      CODE_SERVER,
      ...["--user-data-dir", join(folder, "user"), "--extensions-dir", join(folder, "extensions")],
      ...["--config", join(folder, "config.yaml")],
    ];
  }

  install(...files) {
    const asked = files.flatMap((file) => ["--install-extension", file]);
    const done = spawnSync(process.execPath, [...this.#options(), ...asked], { env: this.env, encoding: "utf8" });
    if (done.status) throw new Error(`an extension could not be installed:\n${done.stdout}${done.stderr}`);
  }

  async start() {
    this.port = await freePort();
    const flags = ["--auth", "none", "--bind-addr", `127.0.0.1:${this.port}`, "--disable-telemetry"];
    flags.push("--disable-update-check", "--disable-getting-started-override");
    if (this.trustAll) flags.push("--disable-workspace-trust");
    this.child = spawn(process.execPath, [...this.#options(), ...flags], {
      env: this.env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) stream.on("data", (piece) => (this.output += piece));
    await until(() => `code-server: ${this.output}`, async () => (await fetch(`${this.url}healthz`)).ok, 120_000);
  }

  get url() {
    return `http://127.0.0.1:${this.port}/`;
  }

  async stop() {
    if (!this.child || this.child.exitCode !== null || this.child.signalCode) return;
    const gone = once(this.child, "exit");
    this.#signal("SIGTERM");
    const late = setTimeout(() => this.#signal("SIGKILL"), 3000);
    await gone;
    clearTimeout(late);
    this.kill(); // what of its group stayed behind
  }

  kill() {
    if (this.child) this.#signal("SIGKILL");
    this.child = undefined;
  }

  #signal(signal) {
    try {
      process.kill(-this.child.pid, signal);
    } catch {
      // the group is gone already
    }
  }
}
