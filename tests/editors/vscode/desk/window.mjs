/** A window of VS Code: its page in the browser, its extension host, and what a user does in it. */
import { spawnSync } from "node:child_process";
import http from "node:http";
import { existsSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { Chat } from "./chat.mjs";
import { MOMENT, PATIENCE, until } from "./until.mjs";

/** A name that a service worker in the page answers for. */
const WEBVIEW_RESOURCES = ".vscode-resource.vscode-cdn.net";
/** The text field of what is at the top; a list of several has a box to tick before it. */
const QUICK_TEXT = ".quick-input-box input";
const EXTENSION_ID = "agentls.agentls";

export class Window {
  constructor(desk, page, url) {
    this.desk = desk;
    this.page = page;
    this.url = url;
    this.console = [];
    this.foreign = []; // what was asked of other machines: must stay empty
    page.on("console", (message) => this.console.push(message.text()));
    page.on("request", (request) => {
      const { hostname, protocol } = new URL(request.url());
      const answeredHere = hostname === "127.0.0.1" || hostname.endsWith(WEBVIEW_RESOURCES);
      if (/^(http|ws)/.test(protocol) && !answeredHere) this.foreign.push(request.url());
    });
    this.chat = new Chat(this);
  }

  async load({ active = true } = {}) {
    await this.#loaded(() => this.page.goto(this.url), active);
  }

  /** As the user does it: the window is closed in good order and opened again. */
  async reload() {
    await this.page.evaluate(() => (globalThis.isBeforeReload = true));
    const isAnew = () => this.page.evaluate(() => !globalThis.isBeforeReload);
    await this.#loaded(() => this.palette("Developer: Reload Window", isAnew));
  }

  /** As when the window crashes. */
  async crash() {
    await this.#loaded(() => this.page.reload());
  }

  async #loaded(load, active = true) {
    const before = new Set(this.#sockets());
    await load();
    await this.page.locator(".monaco-workbench .part.activitybar").waitFor({ timeout: 2 * PATIENCE });
    this.socket = await until("the driver", () => this.#answering(before), 2 * PATIENCE);
    if (!active) return;
    const isActive = "return vscode.extensions.getExtension(given)?.isActive";
    await until("the extension", () => this.run(isActive, EXTENSION_ID));
  }

  #sockets() {
    return readdirSync(this.desk.at("sockets"));
  }

  async #answering(before) {
    for (const name of this.#sockets().filter((one) => !before.has(one))) {
      const socket = this.desk.at("sockets", name);
      const answered = await post(socket, "return 1").catch(() => false);
      if (answered) return socket;
    }
    return undefined;
  }

  /** Runs code in the extension host, with `vscode` and `given`, and gives what it returns. */
  run(code, given) {
    return post(this.socket, code, given);
  }

  /** The process of the server that this window has started; undefined if there is none now. */
  serverPid() {
    const host = basename(this.socket); // named by the extension host's process
    const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" });
    const rows = stdout.split("\n").map((line) => line.trim().split(/\s+/));
    const found = rows.find(([, parent, ...words]) => parent === host && words.some((word) => word.endsWith("/agentls")));
    return found && Number(found[0]);
  }

  command(name, ...given) {
    return this.run("return await vscode.commands.executeCommand(given[0], ...given[1])", [name, given]);
  }

  /** A command that ends only when the user has answered. */
  begin(name, ...given) {
    return this.run("void vscode.commands.executeCommand(given[0], ...given[1])", [name, given]);
  }

  /**
   * A command by its title in the palette, tried until `taken` says that it was: the palette is closed under the user
   * when the focus moves, and does not refresh while it is open. Rows are used for other commands while the list grows,
   * so the one in focus is taken by the keyboard.
   */
  async palette(title, taken) {
    const input = this.quick.locator(QUICK_TEXT);
    const row = this.quick.locator(".monaco-list-row.focused", { hasText: title }).first();
    const take = async () => {
      await this.page.keyboard.press("F1");
      await input.fill(`>${title}`, { timeout: MOMENT });
      await row.waitFor({ timeout: MOMENT });
      await input.press("Enter", { timeout: MOMENT });
      await until(`${title} is taken`, taken, 10_000);
      return true;
    };
    let tried = false;
    await until(`the command ${title}`, async () => {
      if (tried && (await holds(taken))) return true; // later than it was waited for
      tried = true;
      try {
        return await take();
      } catch (error) {
        if (await this.quick.isVisible()) await this.page.keyboard.press("Escape");
        throw error;
      }
    });
  }

  /** The modal dialog that is open. */
  get dialog() {
    return this.page.locator(".monaco-dialog-box");
  }

  /** The list or field at the top: quick pick and input box. */
  get quick() {
    return this.page.locator(".quick-input-widget");
  }

  quickRow(text) {
    return this.quick.locator(".monaco-list-row", { hasText: text }).first();
  }

  /** The row at a place in the list, whatever the order in which the rows were drawn. */
  quickRowAt(index) {
    return this.quick.locator(`.monaco-list-row[data-index="${index}"]`);
  }

  /** Takes a row, which ends the list or leads to another one. */
  async choose(row) {
    await row.waitFor();
    await until(`${row} is taken`, async () => {
      if (await row.isHidden()) return true;
      await row.click({ timeout: MOMENT });
      await row.waitFor({ state: "hidden", timeout: MOMENT });
      return true;
    });
  }

  /** Own words for the field at the top. */
  async answer(words) {
    await this.quick.locator(QUICK_TEXT).fill(words);
    await this.quick.locator(QUICK_TEXT).press("Enter");
  }

  /** Leaves the list or field at the top. */
  async leaveQuick() {
    await until("what was at the top is left", async () => {
      if (await this.quick.isHidden()) return true;
      await this.quick.locator(QUICK_TEXT).press("Escape", { timeout: MOMENT });
      await this.quick.waitFor({ state: "hidden", timeout: MOMENT });
      return true;
    });
  }

  get notices() {
    return this.page.locator(".notifications-toasts");
  }

  get statusBar() {
    return this.page.locator(".part.statusbar");
  }

  /** Shows a file of the project in the editor, which has the focus then. */
  async show(name) {
    const inEditor = () => Boolean(document.activeElement?.closest(".part.editor .editor-instance"));
    await until(`the focus in ${name}`, async () => {
      await this.run(
        `const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, given);
         await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: false });`,
        name,
      );
      return await this.page.evaluate(inEditor);
    });
  }

  /** Types a line into the shown file, as one step of undo. */
  async insertLine(number, text) {
    const done = await this.run(
      `const place = new vscode.Position(given.number, 0);
       const options = { undoStopBefore: true, undoStopAfter: true };
       return vscode.window.activeTextEditor.edit((edit) => edit.insert(place, given.text), options);`,
      { number, text: `${text}\n` },
    );
    if (!done) throw new Error(`the editor did not take ${text}`);
  }

  /** The text that the editor holds, saved or not. */
  text(name) {
    return this.#document(name, "document.getText()");
  }

  isDirty(name) {
    return this.#document(name, "document.isDirty");
  }

  #document(name, expression) {
    const found = "vscode.workspace.textDocuments.find((one) => one.uri.fsPath.endsWith('/' + given))";
    return this.run(`const document = ${found}; return document && ${expression}`, name);
  }

  /** After a test that failed: what it left open must not fail the next one. */
  async calmDown() {
    await this.page.keyboard.press("Escape");
    await this.page.keyboard.press("Escape");
    await this.command("agentls.stop");
    await this.closeEditors();
  }

  async closeEditors() {
    await this.command("workbench.action.revertAndCloseActiveEditor");
    await this.command("workbench.action.closeAllEditors");
  }
}

async function holds(condition) {
  try {
    return await condition();
  } catch {
    return false;
  }
}

function post(socketPath, code, values) {
  if (!existsSync(socketPath)) return Promise.reject(new Error(`no extension host at ${socketPath}`));
  return new Promise((resolve, reject) => {
    const request = http.request({ socketPath, method: "POST", agent: false }, (response) => {
      let text = "";
      response.on("data", (piece) => (text += piece));
      response.on("end", () => {
        const { result, error } = JSON.parse(text);
        if (error) reject(new Error(error));
        else resolve(result);
      });
    });
    request.on("error", reject);
    request.end(JSON.stringify({ code, values: values ?? null }));
  });
}
