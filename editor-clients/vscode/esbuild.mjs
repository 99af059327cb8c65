// Builds dist/extension.js, dist/webview.js and dist/webview.css; with --tests the tests, into out/.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";

const flags = new Set(process.argv.slice(2));
const minify = flags.has("--minify");

const common = { bundle: true, target: "es2022", logLevel: "warning", minify, sourcemap: minify ? false : "linked", legalComments: "none" };
const host = {
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
};
const webview = {
  ...common,
  entryPoints: { webview: "src/webview/main.ts" },
  outdir: "dist",
  platform: "browser",
  format: "iife",
};

function testFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name));
}

async function buildTests() {
  rmSync("out", { recursive: true, force: true });
  await esbuild.build({
    ...common,
    entryPoints: testFiles("test"),
    outdir: "out/test",
    outbase: "test",
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["playwright-core", "axe-core", "esbuild"],
    alias: { vscode: "./test/host/vscode.ts" },
    sourcemap: "inline",
    loader: { ".css": "empty" },
  });
}

async function watch() {
  for (const options of [host, webview]) await (await esbuild.context(options)).watch();
}

if (flags.has("--tests")) await buildTests();
else if (flags.has("--watch")) await watch();
else {
  rmSync("dist", { recursive: true, force: true });
  await Promise.all([esbuild.build(host), esbuild.build(webview)]);
}
