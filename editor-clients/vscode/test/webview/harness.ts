/** The webview's page in headless Chromium, with a host made of a script and with VS Code's own theme colours. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, beforeEach } from "node:test";
import * as esbuild from "esbuild";
import { chromium, type Browser, type Page } from "playwright-core";
import type { FromWebview, ToWebview } from "../../src/shared/messages";
import { pageHtml } from "../../src/shared/page";

export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const skip = existsSync(CHROMIUM) ? false : `no browser at ${CHROMIUM}; CHROMIUM names one`;

export type Theme = "light" | "dark" | "light-modern" | "dark-modern" | "high-contrast" | "high-contrast-light";

/** Tests are built into out/test/webview. */
const ROOT = join(__dirname, "../../..");
const ORIGIN = "http://agentls.test";

type Themes = Record<Theme, Record<string, string>>;

declare global {
  interface Window {
    posted: FromWebview[];
    executed: string[];
  }
}

function themeStyle(theme: Theme): string {
  const themes = JSON.parse(readFileSync(join(ROOT, "test/webview/themes.json"), "utf8")) as Themes;
  const values = Object.entries(themes[theme]).map(([name, value]) => `${name}: ${value};`);
  return `html { ${values.join(" ")} background: var(--vscode-sideBar-background); color-scheme: ${/light/.test(theme) ? "light" : "dark"}; }
    body { background: var(--vscode-sideBar-background); }
    ::-webkit-scrollbar { width: 10px; height: 10px; } ::-webkit-scrollbar-thumb { background: var(--vscode-scrollbarSlider-background); }`;
}

export class Stage {
  private constructor(
    private readonly browser: Browser,
    private readonly script: string,
    private readonly style: string,
  ) {}

  static async open(): Promise<Stage> {
    const built = await esbuild.build({
      entryPoints: [join(ROOT, "src/webview/main.ts")],
      bundle: true,
      write: false,
      outdir: join(ROOT, "dist"),
      target: "es2022",
      format: "iife",
    });
    const text = (end: string): string => built.outputFiles.find(({ path }) => path.endsWith(end))?.text ?? "";
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
    return new Stage(browser, text(".js"), text(".css"));
  }

  async close(): Promise<void> {
    await this.browser.close();
  }

  /** A page that has said that it is ready. */
  async page(theme: Theme = "dark", size = { width: 380, height: 720 }): Promise<ChatPage> {
    const context = await this.browser.newContext({ viewport: size, reducedMotion: "reduce" });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") errors.push(message.text());
    });
    const nonce = "n0nce";
    const html = pageHtml({ chat: "view", script: "/webview.js", style: "/webview.css", source: ORIGIN, nonce }).replace(
      "<link ",
      '<link rel="stylesheet" href="/theme.css">\n<link ',
    );
    const files: Partial<Record<string, [string, string]>> = {
      "/": ["text/html", html],
      "/webview.js": ["text/javascript", this.script],
      "/webview.css": ["text/css", this.style],
      "/theme.css": ["text/css", themeStyle(theme)],
    };
    await page.route("**/*", async (route) => {
      const url = new URL(route.request().url());
      const file = url.origin === ORIGIN ? files[url.pathname] : undefined;
      if (!file) errors.push(`asked for ${url.href}`);
      await route.fulfill(file ? { contentType: file[0], body: file[1] } : { status: 404 });
    });
    await page.addInitScript(() => {
      window.posted = [];
      window.executed = [];
      const api = { postMessage: (message: FromWebview) => window.posted.push(message), getState: (): unknown => JSON.parse(sessionStorage.getItem("state") ?? "null") ?? undefined, setState: (state: unknown) => { sessionStorage.setItem("state", JSON.stringify(state)); } };
      Object.assign(window, { acquireVsCodeApi: () => api });
    });
    await page.goto(`${ORIGIN}/`);
    const chat = new ChatPage(page, errors);
    await chat.posted("ready");
    return chat;
  }
}

/** A fresh page for each test of a file; without a browser there is none. */
export function freshPages(): { readonly chat: ChatPage } {
  let stage: Stage | undefined;
  let chat: ChatPage | undefined;
  before(async () => { if (!skip) stage = await Stage.open(); });
  after(async () => { await stage?.close(); });
  beforeEach(async () => { chat = await stage?.page(); });
  afterEach(async () => {
    if (!chat) return;
    assert.deepEqual(chat.errors, []);
    await chat.close();
  });
  return {
    get chat(): ChatPage {
      assert.ok(chat, "there is no page outside of a test");
      return chat;
    },
  };
}

export class ChatPage {
  constructor(
    readonly page: Page,
    /** Errors of the page: exceptions, what the policy forbade, loads from elsewhere. */
    readonly errors: string[],
  ) {}

  /** Posts as the host does and waits until it is drawn. */
  async send(...messages: ToWebview[]): Promise<void> {
    await this.page.evaluate((list) => { window.postMessage(list, "*"); }, messages);
    await this.settled();
  }

  /** Nothing is left to draw: some frames have gone by in which nothing changed. */
  async settled(): Promise<void> {
    await this.page.evaluate(async () => {
      const frame = (): Promise<number> => new Promise((done) => requestAnimationFrame(done));
      let quiet = 0;
      const observer = new MutationObserver(() => { quiet = 0; });
      observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
      while (quiet < 8) {
        quiet++;
        await frame();
      }
      observer.disconnect();
    });
  }

  /** The first message of that type that the page posted, taken out of the list. */
  async posted<T extends FromWebview["type"]>(type: T): Promise<Extract<FromWebview, { type: T }>> {
    const handle = await this.page.waitForFunction((wanted) => {
      const at = window.posted.findIndex((message) => message.type === wanted);
      return at < 0 ? undefined : window.posted.splice(at, 1)[0];
    }, type, { timeout: 5000 });
    return (await handle.jsonValue()) as Extract<FromWebview, { type: T }>;
  }

  /** Takes away what was posted so far. */
  async forget(): Promise<void> {
    await this.page.evaluate(() => { window.posted = []; });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
