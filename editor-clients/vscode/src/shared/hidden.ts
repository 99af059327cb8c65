/** Characters that hide or reorder text, named where a person must know what really stands there. */

// Controls but line feed and tab, marks of direction, separators of lines, zero widths, fillers, selectors, tags.
export const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

/** Most text has no such character; this is quick to tell. */
export const PLAIN = /^[\t\n\u0020-\u007e\u00a1-\u00ac\u00ae-\u034e]*$/;

/** `U+202E` for a character that cannot be seen. */
export function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The text with hidden characters named. */
export function named(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll(HIDDEN, (character) => `<${nameOf(character)}>`);
}
