/** A new user: an empty profile, the `.vsix`, the server on the PATH, no setting touched; then the workspace's trust. */
import assert from "node:assert/strict";
import { after } from "node:test";
import { Desk } from "./desk/desk.mjs";

const desk = await Desk.open({ model: false, trustAll: false });
after(() => desk.close());
desk.write("agentls.json", JSON.stringify({ permission: { bash: "allow", edit: "allow" } }));
desk.write("README.md", "# A project\n");
const window = await desk.window({ active: false });
const { chat, page } = window;

desk.test("from the .vsix to the first answer of the demo model, by what is on the screen", async () => {
  await window.statusBar.getByText("Restricted Mode").waitFor();
  await page.locator(".activitybar").getByRole("tab", { name: "agentls" }).click();
  await chat.input.waitFor();
  await chat.input.click();
  await page.keyboard.type("Hello");
  await page.keyboard.press("Enter");
  await chat.says("I am the demo model");
  await chat.card.waitFor();
  await chat.button("Stop", chat.status).click();
  await chat.isIdle();
});

desk.test("an untrusted folder's settings do not count, and the chat says so", async () => {
  await chat.frame.getByTestId("banner").getByText("not trusted this folder").waitFor();
  assert.equal(await asksBeforeItActs(), true);
});

desk.test("once the user trusts the folder its settings count, also after a reload", async () => {
  await chat.button("Trust this folder…", chat.frame.getByTestId("banner")).click();
  await page.getByRole("button", { name: "Trust", exact: true }).first().click();
  await chat.frame.getByTestId("banner").waitFor({ state: "detached" });
  assert.equal(await asksBeforeItActs(), false);
  desk.remove("agentls-demo.md");
  await window.reload();
  await chat.open();
  assert.equal(await asksBeforeItActs(), false);
});

/** The demo model writes a note and runs a command in a new session: whether that is asked for. */
async function asksBeforeItActs() {
  await chat.fresh();
  await chat.send("Go on");
  const asked = chat.card.waitFor().then(() => true);
  const ran = chat.frame.locator("[data-tool=bash][data-status=completed]").waitFor().then(() => false);
  const result = await Promise.any([asked, ran]);
  await window.command("agentls.stop");
  await chat.isIdle();
  return result;
}
