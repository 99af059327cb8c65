/** A window of VS Code: its page in the browser, its extension host, and what a user does in it. */
import { spawnSync } from "node:child_process";
import http from "node:http";
import { existsSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { Chat } from "./chat.mjs";
import { until } from "./until.mjs";

/** A name that a service worker in the page answers for. */
const WEBVIEW_RESOURCES = ".vscode-resource.vscode-cdn.net";
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
    await this.#loaded(() => this.palette("Developer: Reload Window"));
  }

  /** As when the window crashes. */
  async crash() {
    await this.#loaded(() => this.page.reload());
  }

  async #loaded(load, active = true) {
    const before = new Set(this.#sockets());
    await load();
    await this.page.locator(".monaco-workbench .part.activitybar").waitFor({ timeout: 60_000 });
    this.socket = await until("the driver", () => this.#answering(before), 60_000);
    if (!active) return;
    const isActive = "return vscode.extensions.getExtension(given)?.isActive";
    await until("the extension", () => this.run(isActive, EXTENSION_ID), 60_000);
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
   * A command by its title in the palette, which does not refresh while it is open. Rows are used for other commands
   * while the list grows, so the one in focus is taken by the keyboard.
   */
  async palette(title) {
    const input = this.page.locator(".quick-input-widget input").first();
    const row = this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: title }).first();
    await until(`the command ${title}`, async () => {
      await this.page.keyboard.press("F1");
      await input.waitFor();
      await input.fill(`>${title}`);
      try {
        await row.waitFor({ timeout: 2000 });
        await this.page.keyboard.press("Enter");
        return true;
      } catch {
        await this.page.keyboard.press("Escape");
        return false;
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

  get notices() {
    return this.page.locator(".notifications-toasts");
  }

  get statusBar() {
    return this.page.locator(".part.statusbar");
  }

  /** Shows a file of the project in the editor. */
  async show(name) {
    await this.run(
      `const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, given);
       await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: false });`,
      name,
    );
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
