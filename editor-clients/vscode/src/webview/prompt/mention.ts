/** The word with `@` or the command with `/` at the caret. */

export interface Mention {
  sign: "@" | "/";
  /** Where the sign stands. */
  start: number;
  word: string;
}

export function mentionAt(text: string, caret: number): Mention | undefined {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command) return { sign: "/", start: 0, word: command[1] ?? "" };
  const match = /(?:^|[\s([{'"`])@([^\s@]*)$/.exec(before);
  const word = match?.[1];
  return word === undefined ? undefined : { sign: "@", start: caret - word.length - 1, word };
}
