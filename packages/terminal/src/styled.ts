import { toVisible } from "@octant/core";
import stringWidth from "string-width";
import type { Role } from "./paint.ts";
import { segmentsOf } from "./segments.ts";

export type Style = {
  role?: Role;
  bold?: boolean;
  italic?: boolean;
  underline?: boolean;
  strike?: boolean;
  inverse?: boolean;
};

/** Text in one style. It never contains control characters or line breaks. */
export type Span = { text: string; style: Style };
export type Line = readonly Span[];

/** Control characters in the text are shown, not obeyed; line breaks are for `wrap`. */
export const span = (text: string, style: Style = {}): Span => ({ text: toVisible(text), style });

/** The lines of a text that may contain anything. Tabs have no fixed width in a terminal that wraps. */
export const textLines = (text: string): string[] =>
  toVisible(text).replaceAll("\t", "    ").replaceAll("\r", "").split("\n");

export const plainText = (line: Line): string => line.map(({ text }) => text).join("");

/** Columns that a text takes in a terminal. */
export const widthOf = (text: string): number => (isNarrow(text) ? text.length : knownWidth(text));

/** Measuring is the most expensive part of drawing, and the same words and signs come again in every frame. */
const widths = new Map<string, number>();
const MAX_WIDTHS = 4_096;
const MAX_KNOWN_CHARACTERS = 64;

function knownWidth(text: string): number {
  const known = widths.get(text);
  if (known !== undefined) return known;
  const width = stringWidth(text);
  if (widths.size >= MAX_WIDTHS) widths.clear();
  if (text.length <= MAX_KNOWN_CHARACTERS) widths.set(text, width);
  return width;
}

/**
 * Signs of one column each: ASCII, Latin, punctuation, arrows, lines, blocks and Braille. Measuring others compiles the
 * table of all emoji, which takes longer than the rest of the first frame.
 */
const NARROW =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u25fc\u2713\u2717\u2800-\u28ff]*$/;

/** Tests compare every one of them with the table. */
export const isNarrow = (text: string): boolean => NARROW.test(text);

export const lineWidth = (line: Line): number => line.reduce((sum, { text }) => sum + widthOf(text), 0);

/** Lines of at most `width` columns that grow at their end. */
class Rows {
  readonly lines: Span[][] = [[]];
  readonly #width: number;
  column = 0;

  constructor(width: number) {
    this.#width = width;
  }

  start(): void {
    this.lines.push([]);
    this.column = 0;
  }

  /** Text that does not fit is broken at the last column. */
  add({ text, style }: Span): void {
    for (const piece of this.column + widthOf(text) <= this.#width ? [text] : graphemes(text)) {
      if (this.column > 0 && this.column + widthOf(piece) > this.#width) this.start();
      const line = this.lines.at(-1)!;
      const last = line.at(-1);
      if (last && last.style === style) last.text += piece;
      else line.push({ text: piece, style });
      this.column += widthOf(piece);
    }
  }
}

/** Breaks spans into lines of at most `width` columns, preferably at spaces. "\n" in a span is a forced break. */
export function wrap(spans: readonly Span[], width: number): Line[] {
  const rows = new Rows(width);
  for (const { kind, parts } of words(spans)) {
    const size = lineWidth(parts);
    const fits = rows.column + size <= width;
    if (kind === "break" || (kind === "text" && rows.column > 0 && !fits)) rows.start();
    if (kind === "text" || (rows.column > 0 && fits)) for (const part of parts) rows.add(part);
    else if (!fits) rows.column = width;
  }
  return rows.lines.map(trimEnd);
}

/** Cuts a line after `width` columns, without a mark. */
export function truncate(line: Line, width: number): Line {
  const kept: Span[] = [];
  let left = width;
  for (const { text, style } of line) {
    let taken = "";
    for (const piece of graphemes(text)) {
      const size = widthOf(piece);
      if (size > left) return [...kept, { text: taken, style }];
      taken += piece;
      left -= size;
    }
    kept.push({ text: taken, style });
  }
  return kept;
}

/** Breaks at the last column only: for code, where spaces count. */
export function hardWrap(line: Line, width: number): Line[] {
  const rows = new Rows(width);
  for (const part of line) rows.add(part);
  return rows.lines;
}

export const graphemes = (text: string): string[] =>
  isNarrow(text) ? [...text] : [...segmentsOf(text)].map(({ segment }) => segment);

type Word = { kind: "text" | "space" | "break"; parts: Span[] };

/** Words may consist of several spans: "**bold**ly" must not break between them. */
function words(spans: readonly Span[]): Word[] {
  const found: Word[] = [];
  for (const { text, style } of spans) {
    for (const [piece] of text.matchAll(/\n| +|[^ \n]+/g)) {
      const kind = piece === "\n" ? "break" : piece.startsWith(" ") ? "space" : "text";
      const parts = kind === "break" ? [] : [{ text: piece, style }];
      const last = found.at(-1);
      if (last?.kind === kind && kind !== "break") last.parts.push(...parts);
      else found.push({ kind, parts });
    }
  }
  return found;
}

function trimEnd(line: Span[]): Line {
  const kept = [...line];
  while (kept.at(-1)?.text.trimEnd() === "") kept.pop();
  const last = kept.pop();
  return last ? [...kept, { ...last, text: last.text.trimEnd() }] : [];
}
