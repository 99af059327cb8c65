import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import test, { after, before } from "node:test";
import findings from "./axe";
import { skip, Stage, type Theme } from "./harness";
import { SCENES } from "./scenes";

/** A folder for pictures of all scenes. */
const SHOTS = process.env.SHOTS;
let stage: Stage | undefined;

before(async () => {
  if (!skip) stage = await Stage.open();
});
after(async () => {
  if (!skip) await stage?.close();
});

/** Scenes that show all pieces between them. */
const FEW = ["conversation", "opened", "permission-always", "question", "error", "mention", "busy"];

async function look(theme: Theme, width: number, scenes = SCENES, axe = true): Promise<void> {
  const problems: string[] = [];
  const chat = await (stage as Stage).page(theme, { width, height: 720 });
  for (const scene of scenes) {
    await chat.page.reload();
    await chat.posted("ready");
    await chat.send(...scene.messages);
    await scene.act?.(chat.page);
    await chat.settled();
    if (SHOTS !== undefined) {
      mkdirSync(SHOTS, { recursive: true });
      await chat.page.screenshot({ path: `${SHOTS}/${scene.name}-${theme}-${width}.png` });
    }
    if (axe) problems.push(...(await findings(chat.page)).map((problem) => `${scene.name}: ${problem}`));
    const wide = await chat.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) problems.push(`${scene.name}: ${wide} pixels too wide`);
  }
  await chat.close();
  assert.deepEqual([...problems, ...chat.errors], []);
}

for (const theme of ["light", "dark", "high-contrast", "high-contrast-light"] as const)
  test(`all scenes can be read and used by all: ${theme}`, { skip }, async () => { await look(theme, 380); });

for (const theme of ["light-modern", "dark-modern"] as const)
  test(`the themes of the years before: ${theme}`, { skip }, async () => {
    await look(theme, 380, SCENES.filter(({ name }) => FEW.includes(name)));
  });

test("240 pixels are enough", { skip }, async () => { await look("dark", 240, SCENES, false); });
