/** Chats in editor tabs: what is typed in one is there again after a reload, and forgotten when nobody can want it. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import type { Chat } from "../../src/host/chat";
import { Chats, type ChatsDeps } from "../../src/host/chats";
import { Memory } from "../../src/host/memory";
import type { Draft, PageState, StateMessage } from "../../src/shared/messages";
import { editor, Panel, Uri } from "./vscode";

const silent = (): void => undefined;
const words = (text: string): Draft => ({ text, chips: [] });

/** A window; another one on the same folder is the window after a reload. */
class Desk {
  readonly memory: Memory;
  readonly chats: Chats;

  constructor(readonly folder = mkdtempSync(join(tmpdir(), "chats-"))) {
    this.memory = new Memory(folder, silent);
    const server = { up: false } as unknown as ChatsDeps["server"];
    const state = () => ({ type: "state" }) as StateMessage;
    this.chats = new Chats({ server, memory: this.memory, extensionUri: Uri.file("/extension") as unknown as ChatsDeps["extensionUri"], state, received: silent, changed: silent });
  }

  open(sessionId?: string): { chat: Chat; panel: Panel } {
    const chat = this.chats.openTab(sessionId);
    return { chat, panel: editor.panels.at(-1) as Panel };
  }

  /** As the editor brings a tab back, with what its page kept. */
  async restore(state: Partial<PageState> | undefined): Promise<Chat> {
    await this.chats.deserializeWebviewPanel(new Panel() as unknown as Parameters<Chats["deserializeWebviewPanel"]>[0], state);
    return this.chats.all.at(-1) as Chat;
  }

  async reloaded(): Promise<Desk> {
    await this.memory.settled();
    return new Desk(this.folder);
  }
}

/** The name that a page finds in itself, and keeps. */
function nameIn({ webview }: Panel): string {
  return /data-chat="([^"]*)"/.exec(webview.html)?.[1] ?? "";
}

test("a tab has its draft and what was chosen again after a reload, by what its page keeps", async () => {
  const desk = new Desk();
  const { chat, panel } = desk.open("ses_a");
  chat.draft = words("typed");
  chat.choose({ agent: "plan" });
  const next = await desk.reloaded();
  const back = await next.restore({ chat: nameIn(panel), sessionId: "ses_a" });
  assert.deepEqual([back.draft, back.chosen, back.sessionId], [words("typed"), { agent: "plan" }, "ses_a"]);
});

test("a name that no page of ours has, or that is taken, makes a new one", async () => {
  const desk = new Desk();
  const { chat } = desk.open();
  for (const name of [chat.key, "view", "../unsent", undefined]) {
    const back = await desk.restore({ ...(name === undefined ? {} : { chat: name }), sessionId: "ses_a" });
    assert.match(back.key, /^tab-[0-9a-f]{12}$/);
    assert.notEqual(back.key, chat.key);
  }
});

test("a tab that is closed with nothing typed is forgotten", async () => {
  const desk = new Desk();
  const { chat, panel } = desk.open("ses_a");
  chat.choose({ agent: "plan" });
  chat.draft = words("typed");
  chat.draft = words("");
  panel.dispose();
  await desk.memory.settled();
  assert.deepEqual(readdirSync(desk.folder), []);
});

test("what was typed in a tab that was closed is in the next one of its session, once", async () => {
  const desk = new Desk();
  const { chat, panel } = desk.open("ses_a");
  chat.draft = words("typed");
  panel.dispose();
  const next = await desk.reloaded();
  assert.deepEqual(next.open("ses_b").chat.draft, words(""));
  assert.deepEqual(next.open("ses_a").chat.draft, words("typed"));
  assert.deepEqual(next.open("ses_a").chat.draft, words(""));
});
