import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "out/", "node_modules/", "src/protocol.ts"] },
  js.configs.recommended,
  {
    files: ["src/**/*.ts", "test/**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: ["tsconfig.json", "tsconfig.webview.json"], tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "max-lines": ["error", 350],
      "max-lines-per-function": ["error", 50],
      complexity: ["error", 10],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/consistent-type-imports": "error",
    },
  },
  {
    // node:test's `test` and `describe` return promises that nobody need wait for.
    files: ["test/**/*.ts"],
    rules: { "@typescript-eslint/no-floating-promises": "off", "max-lines-per-function": "off", complexity: "off" },
  },
  { files: ["*.mjs"], languageOptions: { globals: { process: "readonly" } } },
);
