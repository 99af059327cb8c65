/** The chat view, by what a user sees in it. */
export class Chat {
  constructor(window) {
    this.window = window;
  }

  get frame() {
    return this.window.page.frameLocator("iframe.webview").frameLocator("iframe#active-frame");
  }

  async open() {
    await this.window.command("agentls.chat.focus");
  }
}
