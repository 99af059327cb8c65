/** The webview's page: nothing but its style and its script, and a policy that lets nothing else run or load. */

export interface PageSources {
  script: string;
  style: string;
  /** What the style may come from: `webview.cspSource`. */
  source: string;
  nonce: string;
  /** The chat's name, by which the host knows the page that the editor brings back. */
  chat: string;
}

/** Images are `data:` only, those of prompts; scripts need the nonce; there is no inline style, font or connection. */
export function policy({ source, nonce }: Pick<PageSources, "source" | "nonce">): string {
  return `default-src 'none'; style-src ${source}; script-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; form-action 'none'`;
}

export function pageHtml(sources: PageSources): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(sources)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>agentls chat</title>
<link rel="stylesheet" href="${sources.style}">
</head>
<body data-chat="${sources.chat}">
<script nonce="${sources.nonce}" src="${sources.script}"></script>
</body>
</html>
`;
}
