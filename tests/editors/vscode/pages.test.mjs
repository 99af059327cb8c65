/** The chat's page is replaced, and its tab closed or brought back: words are where the user looks for them, once. */
import assert from "node:assert/strict";
import { after, beforeEach } from "node:test";
import { Desk } from "./desk/desk.mjs";
import { says } from "./desk/model.mjs";
import { until } from "./desk/until.mjs";

const desk = await Desk.open();
after(() => desk.close());
const { model } = desk;
const window = await desk.window();
const { chat } = window;
await chat.open();

beforeEach(async () => {
  await chat.fresh();
});

/** All pages of chats are made anew, as the editor does it when it moves them. */
function replacePages() {
  return window.command("workbench.action.webview.reloadWebviewAction");
}

/** The inputs of all chats: of the side bar and of tabs. */
async function inputs() {
  const found = await Promise.all(window.page.frames().map((frame) => frame.getByTestId("input").all().catch(() => [])));
  return found.flat();
}

/** The input of the chat that has these words in it. */
function typed(words) {
  return until(`a chat in which ${words} is typed`, async () => {
    for (const input of await inputs()) {
      if ((await input.inputValue({ timeout: 1000 }).catch(() => "")) === words) return input;
    }
    return undefined;
  });
}

desk.test("what is typed when the page is replaced is in the next one", async () => {
  await chat.input.fill("half a prompt");
  await replacePages();
  await chat.typed("half a prompt");
  await chat.input.fill("");
});

desk.test("what is sent while the page is replaced is sent once, or still typed", async () => {
  await model.plays(says("Here."));
  await chat.input.fill("Go");
  await Promise.all([chat.input.press("Enter").catch(() => undefined), replacePages()]);
  await until("the words are sent or typed", async () => (await chat.prompts.count()) === 1 || (await chat.input.inputValue().catch(() => "")) === "Go");
  if ((await chat.prompts.count()) === 0) await chat.input.press("Enter");
  await chat.says("Here.");
  await chat.isIdle();
  await chat.typed("");
  assert.equal(await chat.prompts.count(), 1);
});

desk.test("a draft in a tab survives the reload of its window", async () => {
  await window.command("agentls.openInEditor");
  await until("the tab's chat", async () => (await inputs()).length === 2);
  for (const [index, input] of (await inputs()).entries()) await input.fill(`typed ${index}`);
  await window.reload();
  await typed("typed 0");
  await typed("typed 1");
});
