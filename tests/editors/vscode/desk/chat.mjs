/** The chat view, by what a user sees and does in it. */
import { MOMENT, until } from "./until.mjs";

export class Chat {
  constructor(window) {
    this.window = window;
  }

  get frame() {
    return this.window.page.frameLocator("iframe.webview").frameLocator("iframe#active-frame");
  }

  async open() {
    await this.window.command("agentls.openChat");
    await this.input.waitFor();
  }

  /** A session of its own for a test. */
  async fresh() {
    await this.window.command("agentls.startSession");
    await this.prompts.first().waitFor({ state: "detached" });
    await this.window.command("agentls.openChat");
  }

  get input() {
    return this.frame.getByTestId("input");
  }

  get prompts() {
    return this.frame.getByTestId("prompt").filter({ visible: true });
  }

  get answers() {
    return this.frame.getByTestId("answer");
  }

  get log() {
    return this.frame.getByTestId("log");
  }

  get status() {
    return this.frame.getByTestId("status");
  }

  get ending() {
    return this.frame.getByTestId("ending");
  }

  get card() {
    return this.frame.getByTestId("card");
  }

  get queued() {
    return this.frame.getByRole("region", { name: "Queued prompts" });
  }

  tool(name) {
    return this.frame.locator(`[data-testid=tool][data-tool=${name}]`);
  }

  button(name, within = this.frame) {
    return within.getByRole("button", { name, exact: true });
  }

  /** Types a prompt and sends it; while the agent works this steers it. */
  async send(text, key = "Enter") {
    await this.input.fill(text);
    await this.input.press(key);
  }

  async queue(text) {
    await this.send(text, "Alt+Enter");
  }

  /** Whether what is typed now goes into the prompt. */
  async hasFocus() {
    const here = await this.window.page.evaluate(() => {
      const active = document.activeElement; // a page in a closed side bar may have it, and nobody sees it
      return active !== null && active.matches("iframe.webview") && active.checkVisibility({ visibilityProperty: true });
    });
    const isActive = (input) => input.ownerDocument.activeElement === input;
    return here && (await this.input.evaluate(isActive, undefined, { timeout: MOMENT }));
  }

  /** Waits until the conversation says so. */
  async says(text) {
    await this.log.getByText(text).first().waitFor();
  }

  async isIdle() {
    await this.status.waitFor({ state: "hidden" });
  }

  async isBusy(words = "Working") {
    await this.status.getByText(words).waitFor();
  }

  /** How often something stands in the conversation. */
  async count(text) {
    return (await this.log.innerText()).split(text).length - 1;
  }

  async typed(expected) {
    await until(`the prompt says ${expected}`, async () => (await this.input.inputValue()) === expected);
  }

  async allow() {
    await this.button("Allow once", this.card).click();
  }
}
