/** The page of the webview. The host gives it the addresses of script and style, and a nonce for the policy. */
export interface PageParts {
  script: string;
  style: string;
  /** What the webview's own resources come from (`webview.cspSource`). */
  source: string;
  nonce: string;
}

/** Nothing may be loaded but our own script, style and images; nothing may run inline; nothing may be fetched. */
export function page({ script, style, source, nonce }: PageParts): string {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${source}`,
    `font-src ${source}`,
    `img-src ${source} data:`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <link rel="stylesheet" href="${style}">
    <title>agentls</title>
  </head>
  <body>
    <script nonce="${nonce}" src="${script}"></script>
  </body>
</html>
`;
}
