import type { Eol } from "./change.ts";

/** A text and the offsets of its lines. LF and CRLF end a line, a lone CR does not. */
export interface Lines {
  readonly text: string;
  readonly count: number;
  /** One more than there are lines: the last is the end of the text. */
  readonly starts: readonly number[];
}

export function toLines(text: string): Lines {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  if (starts.at(-1) !== text.length) starts.push(text.length);
  return { text, starts, count: starts.length - 1 };
}

/** Where line `at` starts; the end of the text for every line after the last. */
export const startOf = ({ starts, text }: Lines, at: number): number => starts[at] ?? text.length;

/** The ending of line `at`: "" for a last line without newline, and where there is no line. */
export function eolAt(lines: Lines, at: number): Eol {
  const start = lines.starts[at];
  const end = lines.starts[at + 1];
  if (start === undefined || end === undefined || lines.text[end - 1] !== "\n") return "";
  return end - 2 >= start && lines.text[end - 2] === "\r" ? "\r\n" : "\n";
}

/** Line `at` without its ending. */
export const textAt = (lines: Lines, at: number): string =>
  lines.text.slice(startOf(lines, at), startOf(lines, at + 1) - eolAt(lines, at).length);

/** The line that contains `offset`; the end of a text is on its last line, or after it if that line has an ending. */
export function lineOf(lines: Lines, offset: number): number {
  const { starts, count } = lines;
  const last = eolAt(lines, count - 1) === "" ? Math.max(0, count - 1) : count;
  return Math.min(last, countBelow(starts, offset + 1) - 1);
}

/** How many of the ascending numbers are below `limit`. */
export function countBelow(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Splits the text of a patch like `toLines` splits a file; a text without a final newline has "" there. */
export function splitLines(text: string): { text: string; eol: Eol }[] {
  const lines = toLines(text);
  return Array.from({ length: lines.count }, (_, at) => ({ text: textAt(lines, at), eol: eolAt(lines, at) }));
}
