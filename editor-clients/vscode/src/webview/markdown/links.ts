/** What a link of an answer may do: lead to the web, or to a file of the folder. All others are plain text. */
import type { LineRangeInput } from "../../protocol";
import { uriOfPath } from "../words";

export type Target = { kind: "web"; href: string } | { kind: "file"; uri: string; range?: LineRangeInput };

/** Where a link leads; nothing if it should not be one. `folder` is what relative paths start from. */
export function targetOf(href: string, folder: string | undefined): Target | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(href)?.[1]?.toLowerCase();
  if (scheme === "http" || scheme === "https" || scheme === "mailto") return webTarget(href);
  if (scheme === "file") return fileTarget(href.replace(/^file:\/\/(localhost)?/i, ""));
  // `price.py:12` is no scheme.
  if (scheme !== undefined && !/^[^/:]+\.\w+:\d/.test(href)) return undefined;
  return pathTarget(href, folder);
}

function pathTarget(href: string, folder: string | undefined): Target | undefined {
  if (href === "" || href.startsWith("#") || href.startsWith("//")) return undefined;
  if (href.startsWith("/")) return fileTarget(href);
  return folder === undefined ? undefined : fileTarget(`${folder}/${href}`);
}

function webTarget(href: string): Target | undefined {
  return URL.canParse(href) ? { kind: "web", href: new URL(href).href } : undefined;
}

/** `path:12`, `path#L12` and `path#L12-L20` name lines. */
function fileTarget(given: string): Target | undefined {
  const match = /^(?<path>.*?)(?::(?<line>\d+)(?::\d+)?|#L(?<from>\d+)(?:-L?(?<to>\d+))?)?$/.exec(given)?.groups ?? {};
  const path = decoded(match.path ?? given).replace(/[?#].*$/, "");
  if (!path.startsWith("/") || path.startsWith("//")) return undefined;
  const uri = uriOfPath(path);
  const first = Number(match.line ?? match.from ?? 0);
  return first < 1 ? { kind: "file", uri } : { kind: "file", uri, range: lines(first, Number(match.to ?? first)) };
}

function lines(first: number, last: number): LineRangeInput {
  return { start: { line: first - 1 }, end: { line: Math.max(first, last) - 1 } };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
