import type { Position, Range } from "@octant/core";

export interface Word {
  readonly text: string;
  readonly range: Range;
}

/** Identifiers as nearly all languages define them. */
const NAME = /[\p{L}\p{Nl}_$][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}$]*/gu;

export const linesOf = (text: string): string[] => text.split(/\r\n|\n|\r/);

/** One line without its line end; "" when there is none. */
export function lineAt(text: string, line: number): string {
  let start = 0;
  for (let n = 0; n < line; n++) {
    start = text.indexOf("\n", start) + 1;
    if (start === 0) return "";
  }
  const end = text.indexOf("\n", start);
  return (end < 0 ? text.slice(start) : text.slice(start, end)).replace(/\r$/, "");
}

/** The name at a position, or right before it; undefined when there is none. */
export function wordAt(text: string, { line, col }: Position): Word | undefined {
  for (const { 0: word, index } of lineAt(text, line).matchAll(NAME)) {
    if (index > col || col > index + word.length) continue;
    return { text: word, range: rangeOn(line, index, word.length) };
  }
  return undefined;
}

/** All occurrences of a name as a word, in code or not. */
export function wordsNamed(text: string, name: string): Word[] {
  return linesOf(text).flatMap((line, number) =>
    [...line.matchAll(NAME)]
      .filter(([word]) => word === name)
      .map(({ index }) => ({ text: name, range: rangeOn(number, index, name.length) })),
  );
}

/** The part of a name typed so far. */
export function prefixAt(text: string, position: Position): string {
  const word = wordAt(text, position);
  return word ? word.text.slice(0, position.col - word.range.start.col) : "";
}

/** Each name once, in order of appearance. */
export const wordsOf = (text: string): string[] => [...new Set(text.match(NAME))];

export const rangeOn = (line: number, col: number, length: number): Range => ({
  start: { line, col },
  end: { line, col: col + length },
});
