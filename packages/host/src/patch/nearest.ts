import { type LineFinder, squeeze } from "./find-lines.ts";
import { type Lines, textAt } from "./lines.ts";

export const MAX_SHOWN_PLACES = 10;
const MAX_SHOWN_CHARS = 200;
const MAX_CANDIDATES = 3;
const MAX_WANTED_LINES = 200;
const MAX_REPEATS = 3;
const MAX_COMPARED_LINES = 5_000;
const MAX_COMPARED_CHARS = 120;
const MIN_SIMILARITY = 0.3;

/** The positions most similar to `wanted`: for each its first differing line, and the expected one. */
export function nearestPlaces(
  finder: LineFinder,
  wanted: readonly string[],
  stated: number,
): { line: number; wanted: string }[] {
  const places = placesBySharedLines(finder, wanted);
  if (places.length === 0) return linesBySimilarity(finder, wanted, stated);
  return places.map((start) => firstDifference(finder, wanted, start));
}

/** Every line that the file shares with `wanted` votes for the position where the two would align. */
function placesBySharedLines(finder: LineFinder, wanted: readonly string[]): number[] {
  const { ofLine, of } = finder.keys("whitespace");
  const positions = new Map<number, number[]>();
  for (const [i, text] of wanted.slice(0, MAX_WANTED_LINES).entries()) {
    const key = /\w/.test(text) ? of(text) : -1;
    const known = positions.get(key) ?? [];
    if (key >= 0 && known.length < MAX_REPEATS) positions.set(key, [...known, i]);
  }
  const votes = new Uint16Array(ofLine.length);
  for (let at = 0; at < ofLine.length; at++) {
    for (const i of positions.get(ofLine[at]!) ?? []) {
      if (at >= i) votes[at - i]!++;
    }
  }
  return best(votes);
}

function firstDifference(finder: LineFinder, wanted: readonly string[], start: number) {
  const { ofLine, of } = finder.keys("whitespace");
  const differs = wanted.findIndex((text, i) => start + i < ofLine.length && of(text) !== ofLine[start + i]);
  const i = Math.max(differs, 0);
  return { line: start + i, wanted: wanted[i]! };
}

/** Nothing is shared: the line most similar to the first significant one, near the stated position. */
function linesBySimilarity({ lines }: LineFinder, wanted: readonly string[], stated: number) {
  const text = wanted.find((line) => /\w/.test(line));
  if (text === undefined) return [];
  const pairs = pairsOf(text);
  const from = Math.max(0, Math.min(stated, lines.count) - MAX_COMPARED_LINES / 2);
  const compared = Math.min(lines.count - from, MAX_COMPARED_LINES);
  const scores = Array.from({ length: compared }, (_, i) =>
    similarity(pairs, pairsOf(textAt(lines, from + i))),
  );
  const near = best(scores.map((score) => (score >= MIN_SIMILARITY ? score : 0)));
  return near.map((i) => ({ line: from + i, wanted: text }));
}

/** The indexes of the highest scores above 0, highest first. */
function best(scores: ArrayLike<number>): number[] {
  let places: number[] = [];
  for (let at = 0; at < scores.length; at++) {
    const least = places[MAX_CANDIDATES - 1];
    if (scores[at]! <= (least === undefined ? 0 : scores[least]!)) continue;
    places = [...places, at].sort((a, b) => scores[b]! - scores[a]! || a - b).slice(0, MAX_CANDIDATES);
  }
  return places;
}

function pairsOf(line: string): Set<string> {
  const text = squeeze(line.slice(0, MAX_COMPARED_CHARS));
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, i) => text.slice(i, i + 2)));
}

/** Dice coefficient over character pairs: 1 for equal pairs, 0 for none in common. */
const similarity = (a: Set<string>, b: Set<string>) =>
  a.size + b.size === 0 ? 0 : (2 * a.intersection(b).size) / (a.size + b.size);

/** The positions as shown in the details of PATCH_FAILED. */
export const toCandidates = (lines: Lines, places: readonly number[], toDisplay: (text: string) => string) =>
  places
    .slice(0, MAX_SHOWN_PLACES)
    .map((line) => ({ line, text: shorten(toDisplay(textAt(lines, line).slice(0, 4 * MAX_SHOWN_CHARS))) }));

/** The same for the positions most similar to `wanted`. */
export const nearestCandidates = (
  finder: LineFinder,
  wanted: readonly string[],
  stated: number,
  toDisplay: (text: string) => string,
) =>
  toCandidates(
    finder.lines,
    nearestPlaces(finder, wanted, stated).map(({ line }) => line),
    toDisplay,
  );

export const shorten = (text: string) => text.slice(0, MAX_SHOWN_CHARS).toWellFormed();
