import stringWidth from "string-width";

/** The meaning of a piece of text; a theme assigns its colour. */
export type Role =
  | "heading"
  | "code"
  | "link"
  | "quote"
  | "rule"
  | "marker"
  | "keyword"
  | "string"
  | "comment"
  | "number"
  | "name"
  | "type"
  | "added"
  | "removed"
  | "warning"
  | "error"
  | "success"
  | "muted"
  | "accent";

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

export const span = (text: string, style: Style = {}): Span => ({ text, style });

export const plainText = (line: Line): string => line.map(({ text }) => text).join("");

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Columns that a text takes in a terminal. */
export const widthOf = (text: string): number => (isAscii(text) ? text.length : knownWidth(text));

/** Measuring is the dearest part of drawing, and the same words and signs come again in every frame. */
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

const isAscii = (text: string) => /^[\x20-\x7e]*$/.test(text);

export const lineWidth = (line: Line): number => line.reduce((sum, { text }) => sum + widthOf(text), 0);

/** Breaks spans into lines of at most `width` columns, preferably at spaces. "\n" in a span is a forced break. */
export function wrap(spans: readonly Span[], width: number): Line[] {
  const lines: Span[][] = [[]];
  let column = 0;
  const start = () => {
    lines.push([]);
    column = 0;
  };
  const add = (text: string, style: Style) => {
    const line = lines.at(-1)!;
    const last = line.at(-1);
    if (last && last.style === style) last.text += text;
    else line.push({ text, style });
    column += widthOf(text);
  };
  for (const word of words(spans)) {
    if (word.kind === "break") {
      start();
      continue;
    }
    const size = word.parts.reduce((sum, part) => sum + widthOf(part.text), 0);
    if (word.kind === "space") {
      if (column > 0 && column + size <= width) for (const part of word.parts) add(part.text, part.style);
      else if (column + size > width) column = width;
      continue;
    }
    if (column > 0 && column + size > width) start();
    for (const part of word.parts) {
      for (const piece of widthOf(part.text) <= width - column ? [part.text] : graphemes(part.text)) {
        if (column > 0 && column + widthOf(piece) > width) start();
        add(piece, part.style);
      }
    }
  }
  return lines.map(trimEnd);
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
  const lines: Span[][] = [[]];
  let column = 0;
  for (const { text, style } of line) {
    for (const piece of column + widthOf(text) <= width ? [text] : graphemes(text)) {
      if (column > 0 && column + widthOf(piece) > width) {
        lines.push([]);
        column = 0;
      }
      const current = lines.at(-1)!;
      const last = current.at(-1);
      if (last && last.style === style) last.text += piece;
      else current.push({ text: piece, style });
      column += widthOf(piece);
    }
  }
  return lines;
}

export const graphemes = (text: string): string[] =>
  [...segmenter.segment(text)].map(({ segment }) => segment);

type Word = { kind: "text" | "space"; parts: Span[] } | { kind: "break" };

/** Words may consist of several spans: "**bold**ly" must not break between them. */
function words(spans: readonly Span[]): Word[] {
  const found: Word[] = [];
  for (const { text, style } of spans) {
    for (const [piece] of text.matchAll(/\n| +|[^ \n]+/g)) {
      if (piece === "\n") {
        found.push({ kind: "break" });
        continue;
      }
      const kind = piece.startsWith(" ") ? "space" : "text";
      const last = found.at(-1);
      if (last && last.kind === kind) last.parts.push({ text: piece, style });
      else found.push({ kind, parts: [{ text: piece, style }] });
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
