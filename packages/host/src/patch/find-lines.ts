import type { Match } from "./change.ts";
import { type Lines, textAt } from "./lines.ts";

/** Finds runs of lines in one file, in time linear in the file and the run. */
export interface LineFinder {
  readonly lines: Lines;
  /** The key of each line of the file for a kind of match. */
  keys(match: Match): LineKeys;
  /** Whether `wanted` is exactly at line `at`. */
  standsAt(wanted: readonly string[], at: number): boolean;
  /** All positions from line `from` on where `wanted` occurs. */
  find(wanted: readonly string[], from: number, match: Match): number[];
}

export interface LineKeys {
  readonly ofLine: Int32Array;
  /** The key of any line: -1 when it is not in the file. */
  of(text: string): number;
  /** The lines with this key, in order. */
  linesWith(key: number): Int32Array;
}

export function lineFinder(lines: Lines): LineFinder {
  const built: Partial<Record<Match, LineKeys>> = {};
  const keys = (match: Match) => {
    built[match] ??= toKeys(lines, match === "exact" ? asItIs : squeeze);
    return built[match];
  };
  return {
    lines,
    keys,
    standsAt: (wanted, at) =>
      at >= 0 &&
      at + wanted.length <= lines.count &&
      wanted.every((text, i) => textAt(lines, at + i) === text),
    find: (wanted, from, match) => findKeys(keys(match), wanted, from),
  };
}

function findKeys(keys: LineKeys, wanted: readonly string[], from: number): number[] {
  const pattern = Int32Array.from(wanted, keys.of);
  if (pattern.includes(-1)) return [];
  const frequency = (key: number) => keys.linesWith(key).length;
  const rarest = pattern.reduce((best, key, i) => (frequency(key) < frequency(pattern[best]!) ? i : best), 0);
  const lines = keys.linesWith(pattern[rarest]!);
  if (lines.length * pattern.length > keys.ofLine.length) return occurrences(keys.ofLine, pattern, from);
  return Array.from(lines, (line) => line - rarest).filter(
    (at) => at >= from && pattern.every((key, i) => keys.ofLine[at + i] === key),
  );
}

const asItIs = (text: string) => text;

/** A line with its spaces and tabs reduced to word separators. */
export const squeeze = (text: string): string =>
  TO_SQUEEZE.test(text) ? text.replace(/[ \t]+/g, " ").replace(/^ | $/g, "") : text;

const TO_SQUEEZE = /\t|^ | $| {2}/;

function toKeys(lines: Lines, toKey: (text: string) => string): LineKeys {
  const known = new Map<string, number>();
  const ofLine = new Int32Array(lines.count);
  for (let at = 0; at < lines.count; at++) {
    const text = toKey(textAt(lines, at));
    const key = known.get(text) ?? known.size;
    known.set(text, key);
    ofLine[at] = key;
  }
  const { lines: sorted, ends } = sortByKey(ofLine, known.size);
  return {
    ofLine,
    of: (text) => known.get(toKey(text)) ?? -1,
    linesWith: (key) => sorted.subarray(ends[key - 1] ?? 0, ends[key]),
  };
}

/** All lines sorted by their key, and where each key's lines end. */
function sortByKey(ofLine: Int32Array, keyCount: number): { lines: Int32Array; ends: Int32Array } {
  const ends = new Int32Array(keyCount);
  for (const key of ofLine) ends[key]!++;
  for (let key = 1; key < keyCount; key++) ends[key]! += ends[key - 1]!;
  const next = Int32Array.from(ends, (_, key) => ends[key - 1] ?? 0);
  const lines = new Int32Array(ofLine.length);
  for (let at = 0; at < ofLine.length; at++) lines[next[ofLine[at]!]!++] = at;
  return { lines, ends };
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
