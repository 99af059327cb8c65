/** A user's machine: home, settings, a project, the scripted model, VS Code, and windows on it. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";
import { CodeServer } from "./codeserver.mjs";
import { Model } from "./model.mjs";
import { CHROMIUM, chromium, DRIVER, EXTENSION, SERVER } from "./places.mjs";
import { PATIENCE } from "./until.mjs";
import { Window } from "./window.mjs";

const BARE = ["bash", "cat", "dirname", "env", "ps", "readlink", "sh", "sleep", "uname", "which"];

/** No test of ours takes longer. */
const TIMEOUT = 240_000;

export class Desk {
  #browser;
  #context; // one for all windows: what it has loaded once stays in its cache

  constructor() {
    this.folder = mkdtempSync(join(realpathSync(tmpdir()), "agentls-vs-"));
    this.windows = [];
    for (const name of ["home", "project", "sockets"]) mkdirSync(this.at(name));
    this.home = this.at("home");
    this.project = this.at("project");
  }

  /**
   * `bare`: neither the server nor anything that could fetch it is on the PATH. `model: false`: no setting of the
   * server. `trustAll: false`: folders have to be trusted.
   */
  static async open({ bare = false, model = true, settings = {}, trustAll = true } = {}) {
    const desk = new Desk();
    process.once("exit", () => desk.#abandon());
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
    try {
      if (model) await desk.#startModel();
      desk.codeServer = new CodeServer(desk.folder, { env: desk.#env(bare), settings, trustAll });
      desk.codeServer.install(EXTENSION, DRIVER);
      await desk.codeServer.start();
      desk.#browser = await chromium.launch({
        executablePath: CHROMIUM,
        args: ["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
      });
      desk.#context = await desk.#browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
      return desk;
    } catch (error) {
      await desk.close();
      throw error;
    }
  }

  at(...names) {
    return join(this.folder, ...names);
  }

  #env(bare) {
    const usual = [dirname(SERVER), "/usr/local/bin", "/usr/bin", "/bin"];
    const path = bare ? this.#bareBin() : usual.join(delimiter);
    writeFileSync(join(this.home, ".profile"), `export PATH="${path}"\n`); // the editor asks a login shell for it
    return {
      HOME: this.home,
      LANG: "C.UTF-8",
      PATH: path,
      SHELL: "/bin/bash",
      XDG_CACHE_HOME: join(this.home, "cache"),
      XDG_CONFIG_HOME: join(this.home, "config"),
      XDG_DATA_HOME: join(this.home, "data"),
      XDG_STATE_HOME: join(this.home, "state"),
      AGENTLS_TEST_SOCKETS: this.at("sockets"),
    };
  }

  /** A PATH with what code-server itself needs. */
  #bareBin() {
    const bin = this.at("bin");
    mkdirSync(bin);
    for (const name of BARE) {
      const found = ["/usr/bin", "/bin"].map((folder) => join(folder, name)).find(existsSync);
      if (found) symlinkSync(found, join(bin, name));
    }
    return bin;
  }

  async #startModel() {
    this.model = await Model.start(this.folder);
    const folder = join(this.home, "config", "agentls");
    mkdirSync(folder, { recursive: true });
    const models = { "test-model": { limit: { context: 200_000, output: 32_000 } } };
    const fake = { name: "Fake", options: { baseURL: this.model.url, apiKey: "key" }, models };
    const settings = { model: "fake/test-model", provider: { fake } };
    writeFileSync(join(folder, "agentls.json"), JSON.stringify(settings));
  }

  /** Writes a file of the project. */
  write(name, text) {
    mkdirSync(dirname(join(this.project, name)), { recursive: true });
    writeFileSync(join(this.project, name), text);
    return join(this.project, name);
  }

  remove(name) {
    rmSync(join(this.project, name), { force: true });
  }

  has(name) {
    return existsSync(join(this.project, name));
  }

  read(name) {
    return readFileSync(join(this.project, name), "utf8");
  }

  /** An editor window on a folder, with the extension at work. */
  async window({ folder = this.project, width = 1280, height = 800, active = true } = {}) {
    const page = await this.#context.newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.setViewportSize({ width, height });
    const window = new Window(this, page, `${this.codeServer.url}?folder=${folder}`);
    this.windows.push(window);
    await window.load({ active });
    return window;
  }

  async closeWindow(window) {
    this.windows.splice(this.windows.indexOf(window), 1);
    await window.page.close();
  }

  /** A test with this desk: when it fails, what the windows show and what the logs say is kept and named. */
  test(name, body) {
    test(name, { timeout: TIMEOUT }, async (t) => {
      try {
        await body(t);
      } catch (error) {
        await this.#keepTraces(t, name);
        for (const window of this.windows) await window.calmDown().catch(() => {});
        throw error;
      }
    });
  }

  async #keepTraces(t, name) {
    const folder = join(tmpdir(), "agentls-vscode-failures", `${process.pid}-${name.replace(/\W+/g, "-")}`);
    mkdirSync(folder, { recursive: true });
    for (const [index, window] of this.windows.entries()) {
      await window.page.screenshot({ path: join(folder, `window-${index}.png`) }).catch(() => {});
      writeFileSync(join(folder, `console-${index}.txt`), window.console.join("\n"));
    }
    for (const log of this.#logs()) writeFileSync(join(folder, log.replaceAll("/", "_")), readFileSync(this.at(log)));
    if (this.model) writeFileSync(join(folder, "model.json"), JSON.stringify(this.model.requests(), null, 1));
    t.diagnostic(`pictures and logs: ${folder}`);
  }

  #logs() {
    const all = readdirSync(this.folder, { recursive: true });
    return all.filter((name) => name.endsWith(".log") && /agentls/i.test(name));
  }

  /** The tests end without a word: nothing may stay behind. */
  #abandon() {
    this.codeServer?.kill();
    this.model?.child.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }

  async close() {
    await this.#browser?.close();
    await this.codeServer?.stop();
    await this.model?.close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
  }
}
