/** Words of the agent in places of the editor that read them as more than words. */
import { named } from "../shared/hidden";

/** One line for a label or a notification. Cut text ends with an ellipsis. */
export function oneLine(text: string, most = 200): string {
  const flat = named(text.trim()).replaceAll(/\s+/g, " ");
  return flat.length > most ? `${flat.slice(0, most - 1)}…` : flat;
}

/** Whether `oneLine` shows all that there is. */
export function fitsOneLine(text: string, most = 200): boolean {
  return !/[\n\r]/.test(text.trim()) && named(text.trim()).length <= most;
}

/**
 * Words for a notification, of which links of ours follow. Where `[words](command:…)` stands in them they would be a
 * link. A `[` that they leave open would take our first link as its words: the kind, in brackets, ends it.
 */
export function beforeLinks(words: string, kind: string): string {
  return `${words} [${kind}]`.replaceAll("](", "] (");
}

/** Text for a label in which `$(name)` would become an icon. */
export function iconless(text: string): string {
  return text.replaceAll("$(", "$ (");
}
