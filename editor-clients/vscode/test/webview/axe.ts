/** What axe finds on a page: one line each. */
import { readFileSync } from "node:fs";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

declare global {
  interface Window {
    axe: { run: () => Promise<AxeResults> };
  }
}

export default async function findings(page: Page): Promise<string[]> {
  // Not a script element, which the page's policy would forbid.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(SOURCE);
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${(failureSummary ?? "").replace(/\s+/g, " ").slice(0, 200)}`));
}
