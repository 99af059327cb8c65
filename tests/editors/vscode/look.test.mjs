/** How it looks, and what a screen reader gets: axe on the real webview, pictures where AGENTLS_TEST_PICTURES says. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { Desk } from "./desk/desk.mjs";
import { bash, calls, says } from "./desk/model.mjs";
import { AXE, PICTURES } from "./desk/places.mjs";
import { until } from "./desk/until.mjs";

const ANSWER = `The sum is wrong because \`add\` subtracts. **Two places** need a change:

1. \`sum.py\`, where the sign is wrong
2. the test, which expects the wrong value

\`\`\`python
def add(a, b):
    return a + b
\`\`\`

| case | before | after |
| --- | --- | --- |
| \`add(1, 2)\` | -1 | 3 |

> Nothing else uses it.
`;
const TODOS = [
  { content: "Find the fault", status: "completed", priority: "high" },
  { content: "Mend the sum", status: "in_progress", priority: "high" },
  { content: "Run the tests", status: "pending", priority: "low" },
];
const COLOURS = {
  header: "Colour",
  question: "Which colour shall the button have?",
  options: [{ label: "Red", description: "as a warning" }, { label: "Blue", description: "as the others" }],
};
const AXE_CODE = readFileSync(AXE, "utf8");
const THEMES = { dark: "Default Dark Modern", light: "Default Light Modern", contrast: "Default High Contrast" };

const desk = await Desk.open();
after(() => desk.close());
const { model } = desk;
const window = await desk.window({ width: 1280, height: 860 });
const { chat, page } = window;
const path = desk.write("sum.py", "def add(a, b):\n    return a - b\n\n\nprint(add(1, 2))\n");
await chat.open();
await window.show("sum.py");
await widen(120);

/** Pulls the side bar's edge. */
async function widen(by) {
  const bar = page.locator(".part.sidebar");
  const before = (await bar.boundingBox()).width;
  await until("the side bar is wider", async () => {
    const box = await bar.boundingBox();
    const [x, y] = [box.x + box.width + 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + by, y, { steps: 5 });
    await page.mouse.up();
    await page.mouse.move(x + 400, y);
    return (await bar.boundingBox()).width > before;
  });
}

async function theme(name) {
  await window.run("await vscode.workspace.getConfiguration('workbench').update('colorTheme', given, true)", THEMES[name]);
  const kind = { dark: 2, light: 1, contrast: 3 }[name];
  await until(`the theme ${name}`, () => window.run("return vscode.window.activeColorTheme.kind === given", kind));
  await until("its colours in the chat", () => chat.frame.locator("body").evaluate((body, kind) => body.dataset.vscodeThemeKind?.includes(kind), { dark: "dark", light: "light", contrast: "high-contrast" }[name]));
}

async function picture(name) {
  if (PICTURES) await page.screenshot({ path: join(PICTURES, `vscode-${name}.png`), animations: "disabled" });
}

/** What axe finds wrong in the webview as it is now. */
async function violations() {
  const body = await chat.frame.locator("body").elementHandle();
  const frame = await body.ownerFrame();
  // The page is transparent; what is behind it axe cannot see from inside.
  const behind = await page.locator(".part.sidebar").evaluate((part) => getComputedStyle(part).backgroundColor);
  const paint = (colour) => frame.evaluate((value) => (document.documentElement.style.backgroundColor = value), colour);
  await paint(behind);
  await frame.evaluate(AXE_CODE);
  const result = await frame.evaluate(() => globalThis.axe.run(document));
  await paint("");
  return result.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
}

async function inAllThemes(name) {
  const found = [];
  for (const one of ["light", "dark", "contrast"]) {
    await theme(one);
    await picture(`${name}-${one}`);
    for (const violation of await violations()) found.push(`${one}: ${violation}`);
  }
  assert.deepEqual(found, []);
}

desk.test("the welcome", () => inAllThemes("welcome"));

desk.test("a conversation with tools, thoughts, code and an edit that waits for an answer", async () => {
  await model.plays(
    { reasoning: "The sign looks wrong. I read the file first.", ...calls("read", { filePath: path }), text: "I look at the sum first." },
    bash("echo wrong"),
    calls("todowrite", { todos: TODOS }),
    { ...calls("edit", { filePath: path, oldString: "a - b", newString: "a + b" }), text: ANSWER },
    says("It is mended."),
  );
  await chat.send("The sum of 1 and 2 comes out as -1. Please mend it.");
  await chat.card.getByText("echo wrong").waitFor();
  await picture("command");
  await chat.allow();
  await chat.card.getByText("return a + b").waitFor();
  await page.locator(".monaco-diff-editor").waitFor();
  await inAllThemes("edit");
});

desk.test("the same, narrow", async () => {
  await theme("dark");
  await page.setViewportSize({ width: 640, height: 860 });
  await picture("narrow");
  assert.deepEqual(await violations(), []);
  const wide = await chat.frame.locator("body").evaluate((body) => body.scrollWidth > body.clientWidth + 1);
  assert.equal(wide, false, "nothing sticks out at the side");
  await page.setViewportSize({ width: 1280, height: 860 });
  await widen(200);
  await chat.allow();
  await chat.says("It is mended.");
  await inAllThemes("done");
});

desk.test("the editor's own dialog", async () => {
  await theme("dark");
  await model.plays(bash("rm -rf build && make"), says("Done."));
  await chat.fresh();
  await chat.send("Build it anew");
  await chat.card.waitFor();
  await picture("announcement");
  await window.begin("agentls.answer");
  await window.quickRow("Allow once").waitFor();
  await picture("dialog");
  await window.choose(window.quickRow("Reject"));
  await chat.isIdle();
});

desk.test("a question", async () => {
  await model.plays(calls("question", { questions: [COLOURS] }), says("Blue it is."));
  await chat.fresh();
  await chat.send("Paint the button");
  await chat.card.getByText("Which colour shall the button have?").waitFor();
  await inAllThemes("question");
  await chat.card.getByRole("radio", { name: /Blue/ }).check();
  await chat.button("Answer", chat.card).click();
  await chat.says("Blue it is.");
});
