import type { Motion, MotionContext } from "./motions.ts";

export type Search = { words: string; backward: boolean };

/** The next place of the words; the search continues at the other end of the text. */
export function findWords(
  { text, cursor, count = 1 }: MotionContext,
  { words, backward }: Search,
): Motion | undefined {
  if (words === "" || !text.includes(words)) return;
  let at = cursor;
  for (let i = 0; i < count; i++) {
    const before = at === 0 ? -1 : text.lastIndexOf(words, at - 1);
    const found = backward ? before : text.indexOf(words, at + 1);
    at = found === -1 ? (backward ? text.lastIndexOf(words) : text.indexOf(words)) : found;
  }
  return { to: at, kind: "exclusive" };
}
