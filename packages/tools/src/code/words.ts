import type { Position, Range } from "@octant/core";
import type { Path, SourceText } from "@octant/host";
import { languageOf } from "@octant/search";

export interface Word {
  readonly text: string;
  readonly range: Range;
}

const START = String.raw`\p{L}\p{Nl}_`;
const REST = String.raw`\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}`;
/** Identifiers as nearly all languages define them. */
const NAME = new RegExp(`[${START}$][${REST}$]*`, "gu");
const WITHOUT_DOLLAR = new RegExp(`[${START}][${REST}]*`, "gu");
/** `save!` and `ok?`, but neither `a!=b` nor `a!~b`. */
const SIGNED = new RegExp(`[${START}][${REST}]*(?:[!?](?!=(?!=)|~))?`, "gu");

/** The names of the language that a path stands for. */
function namesOf(path: Path): RegExp {
  const language = languageOf(path);
  if (language?.signedNames) return SIGNED;
  return language?.dollarIsSigil ? WITHOUT_DOLLAR : NAME;
}

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

type Text = Pick<SourceText, "path" | "text">;

/** The name at a position, right before it, or right after its sign, as in `@name`; undefined when there is none. */
export function wordAt({ path, text }: Text, { line, col }: Position): Word | undefined {
  const found = lineAt(text, line);
  const words = [...found.matchAll(namesOf(path))];
  const holding = (at: number) =>
    words.find(({ 0: word, index }) => index <= at && at <= index + word.length);
  const match = holding(col) ?? (/[$@:]/.test(found[col] ?? "") ? holding(col + 1) : undefined);
  return match && { text: match[0], range: rangeOn(line, match.index, match[0].length) };
}

/** All occurrences of a name as a word, in code or not. */
export function wordsNamed({ path, text }: Text, name: string): Word[] {
  return linesOf(text).flatMap((line, number) =>
    [...line.matchAll(namesOf(path))]
      .filter(([word]) => word === name)
      .map(({ index }) => ({ text: name, range: rangeOn(number, index, name.length) })),
  );
}

/** The part of a name typed so far. */
export function prefixAt(source: Text, position: Position): string {
  const word = wordAt(source, position);
  return word ? word.text.slice(0, Math.max(0, position.col - word.range.start.col)) : "";
}

/** Each name once, in order of appearance. */
export const wordsOf = ({ path, text }: Text): string[] => [...new Set(text.match(namesOf(path)))];

export const rangeOn = (line: number, col: number, length: number): Range => ({
  start: { line, col },
  end: { line, col: col + length },
});
