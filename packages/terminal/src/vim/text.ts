import { segmentsOf } from "../segments.ts";

/**
 * A buffer is one string with "\n" between lines, and a position is an offset into it. An offset of "\n" (or the
 * length of the text) is the end of a line, where Vim's cursor rests only in insert mode or on an empty line.
 */

export const lineStart = (text: string, at: number): number =>
  at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;

export const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
};

/** The offset after the character at `at`; a line break counts as a character. */
export function next(text: string, at: number): number {
  if (at >= text.length) return text.length;
  if (text[at] === "\n") return at + 1;
  const [first] = segmentsOf(text.slice(at, lineEnd(text, at)));
  return at + (first?.segment.length ?? 1);
}

/** The offset of the character before `at`; a line break counts as a character. */
export function previous(text: string, at: number): number {
  if (at <= 0) return 0;
  if (text[at - 1] === "\n") return at - 1;
  const start = lineStart(text, at);
  let last = start;
  for (const { index } of segmentsOf(text.slice(start, at))) last = start + index;
  return last;
}

export const rowOf = (text: string, at: number): number => {
  let row = 0;
  for (let i = text.indexOf("\n"); i !== -1 && i < at; i = text.indexOf("\n", i + 1)) row++;
  return row;
};

/** The offset at which a line starts; the last line when there are fewer. */
export function startOfRow(text: string, row: number): number {
  let start = 0;
  for (let i = 0; i < row; i++) {
    const end = text.indexOf("\n", start);
    if (end === -1) return start;
    start = end + 1;
  }
  return start;
}

export const lastRow = (text: string): number => rowOf(text, text.length);

/** The column counted in characters as a person sees them. */
export function columnOf(text: string, at: number): number {
  let column = 0;
  for (const _ of segmentsOf(text.slice(lineStart(text, at), at))) column++;
  return column;
}

/** The offset of a column in the line that starts at `start`, at most the end of that line. */
export function atColumn(text: string, start: number, column: number): number {
  const end = lineEnd(text, start);
  let at = start;
  for (let i = 0; i < column && at < end; i++) at = next(text, at);
  return at;
}

export function firstNonBlank(text: string, at: number): number {
  const end = lineEnd(text, at);
  let i = lineStart(text, at);
  while (i < end && isBlank(text[i])) i++;
  return i;
}

/** Normal mode keeps the cursor on a character unless the line is empty. */
export function onCharacter(text: string, at: number): number {
  const start = lineStart(text, at);
  return at > start && at >= lineEnd(text, at) ? previous(text, lineEnd(text, at)) : at;
}

export const isBlank = (character: string | undefined): boolean => character === " " || character === "\t";

export const isEmptyLine = (text: string, at: number): boolean =>
  lineStart(text, at) === at && lineEnd(text, at) === at;

/** Scripts without spaces are classes of their own. */
const CLASSES: readonly (readonly [string, RegExp])[] = [
  ["han", /^\p{Script=Han}/u],
  ["hiragana", /^\p{Script=Hiragana}/u],
  ["katakana", /^\p{Script=Katakana}/u],
  ["hangul", /^\p{Script=Hangul}/u],
  ["word", /^[\p{L}\p{N}\p{M}_]/u],
  ["emoji", /^\p{Extended_Pictographic}/u],
];

/** Words are runs of one class. White space and line ends are "blank". */
export function classAt(text: string, at: number, bigWord: boolean): string {
  const character = text[at];
  if (character === undefined || character === "\n" || isBlank(character)) return "blank";
  if (bigWord) return "word";
  const whole = text.slice(at, next(text, at));
  return CLASSES.find(([, pattern]) => pattern.test(whole))?.[0] ?? "symbol";
}
