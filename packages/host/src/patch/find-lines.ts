import type { Match } from "./change.ts";
import { type Lines, textAt } from "./lines.ts";

export type LineFinder = ReturnType<typeof lineFinder>;

/** Finds runs of lines in one file, in time linear in the file and the run. */
export function lineFinder(lines: Lines) {
  const built: Partial<Record<Match, LineKeys>> = {};
  /** The key of each line of the file for a kind of match. */
  const keys = (match: Match): LineKeys => {
    built[match] ??= toKeys(lines, match === "exact" ? (text) => text : squeeze);
    return built[match];
  };
  return {
    lines,
    keys,
    /** Whether `wanted` is exactly at line `at`. */
    standsAt: (wanted: readonly string[], at: number): boolean =>
      at >= 0 &&
      at + wanted.length <= lines.count &&
      wanted.every((text, i) => textAt(lines, at + i) === text),
    /** All positions from line `from` on where `wanted` occurs. */
    find: (wanted: readonly string[], from: number, match: Match): number[] =>
      findKeys(keys(match), wanted, from),
  };
}

function findKeys(keys: LineKeys, wanted: readonly string[], from: number): number[] {
  const pattern = Int32Array.from(wanted, keys.of);
  if (pattern.includes(-1)) return [];
  const frequency = (key: number) => keys.linesWith(key).length;
  const rarest = pattern.reduce((best, key, i) => (frequency(key) < frequency(pattern[best]!) ? i : best), 0);
  const lines = keys.linesWith(pattern[rarest]!);
  if (lines.length * pattern.length > keys.ofLine.length) return occurrences(keys.ofLine, pattern, from);
  return lines
    .map((line) => line - rarest)
    .filter((at) => at >= from && pattern.every((key, i) => keys.ofLine[at + i] === key));
}

/** A line with its spaces and tabs reduced to word separators. */
export const squeeze = (text: string): string =>
  TO_SQUEEZE.test(text) ? text.replace(/[ \t]+/g, " ").replace(/^ | $/g, "") : text;

const TO_SQUEEZE = /\t|^ | $| {2}/;

type LineKeys = ReturnType<typeof toKeys>;

function toKeys(lines: Lines, toKey: (text: string) => string) {
  const known = new Map<string, number>();
  const ofLine = new Int32Array(lines.count);
  const linesOf: number[][] = [];
  for (let at = 0; at < lines.count; at++) {
    const text = toKey(textAt(lines, at));
    const key = known.get(text) ?? known.size;
    if (key === known.size) {
      known.set(text, key);
      linesOf.push([]);
    }
    ofLine[at] = key;
    linesOf[key]!.push(at);
  }
  return {
    ofLine,
    /** The key of any line: -1 when it is not in the file. */
    of: (text: string): number => known.get(toKey(text)) ?? -1,
    /** The lines with this key, in order. */
    linesWith: (key: number): readonly number[] => linesOf[key]!,
  };
}

/** Knuth-Morris-Pratt: repeated lines must not make the search quadratic. */
function occurrences(keys: Int32Array, pattern: Int32Array, from: number): number[] {
  const fallback = new Int32Array(pattern.length);
  for (let i = 1, matched = 0; i < pattern.length; i++) {
    while (matched > 0 && pattern[i] !== pattern[matched]) matched = fallback[matched - 1]!;
    if (pattern[i] === pattern[matched]) matched++;
    fallback[i] = matched;
  }
  const places: number[] = [];
  for (let at = from, matched = 0; at < keys.length; at++) {
    while (matched > 0 && keys[at] !== pattern[matched]) matched = fallback[matched - 1]!;
    if (keys[at] === pattern[matched]) matched++;
    if (matched < pattern.length) continue;
    places.push(at - matched + 1);
    matched = fallback[matched - 1]!;
  }
  return places;
}
