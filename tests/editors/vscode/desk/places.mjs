/** Where the programs under test are. `tests/editors/run` fetches and builds them and says so here. */
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

function named(variable) {
  const value = process.env[variable];
  if (!value) throw new Error(`${variable} is not set: start these tests by tests/editors/run vscode`);
  return value;
}

export const ROOT = resolve(import.meta.dirname, "../../../..");
export const TESTS = join(ROOT, "tests");
export const SERVER = process.env.AGENTLS_TEST_SERVER || join(ROOT, ".venv/bin/agentls");
export const CODE_SERVER = named("AGENTLS_TEST_CODE_SERVER");
export const CHROMIUM = named("AGENTLS_TEST_CHROMIUM");
export const EXTENSION = named("AGENTLS_TEST_VSIX");
export const DRIVER = named("AGENTLS_TEST_DRIVER");
export const PICTURES = process.env.AGENTLS_TEST_PICTURES;

const load = createRequire(join(named("AGENTLS_TEST_MODULES"), "any"));
export const { chromium } = load("playwright-core");
export const AXE = load.resolve("axe-core/axe.min.js");
