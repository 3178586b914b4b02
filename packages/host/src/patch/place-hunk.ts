import { type Hunk, type Match, patchFailed } from "./change.ts";
import { type LineFinder, squeeze } from "./find-lines.ts";
import { countBelow, eolAt, textAt } from "./lines.ts";
import { nearestCandidates, nearestPlaces, shorten, toCandidates } from "./nearest.ts";

export interface Place {
  readonly line: number;
  readonly match: Match;
}

/** The search for one hunk: its start, its name in messages, and how lines are shown. */
export interface Search {
  readonly finder: LineFinder;
  readonly from: number;
  readonly number: number;
  readonly toDisplay: (text: string) => string;
}

/** The only position where the hunk applies; PATCH_FAILED when there is none, or it is ambiguous. */
export function placeHunk(hunk: Hunk, search: Search): Place {
  const wanted = hunk.lines.filter(({ op }) => op !== "+").map(({ text }) => text);
  if (wanted.length === 0) return { line: placeInsertion(hunk, search), match: "exact" };
  const { finder, from } = search;
  const stated = hunk.atEnd ? finder.lines.count - wanted.length : hunk.line;
  const endsFile = hunk.lines.some(({ eol }) => eol === "");
  const fits = (at: number) => at >= from && (!endsFile || fitsEnd(hunk, at + wanted.length, finder));

  if (stated !== undefined && fits(stated) && finder.standsAt(wanted, stated)) {
    return { line: stated, match: "exact" };
  }
  for (const match of ["exact", "whitespace"] as const) {
    const places = afterAnchors(finder.find(wanted, from, match).filter(fits), hunk, search);
    if (places.length > 1) throw ambiguous(places, search);
    if (places.length === 1) return { line: places[0]!, match };
  }
  throw notFound(hunk, wanted, stated ?? 0, search);
}

/**
 * A hunk that marks a missing newline belongs to the file's end, and needs an old last line without one if it says
 * so.
 */
function fitsEnd(hunk: Hunk, end: number, { lines }: LineFinder): boolean {
  const oldLacksNewline = hunk.lines.some(({ op, eol }) => op !== "+" && eol === "");
  return end === lines.count && (!oldLacksNewline || eolAt(lines, end - 1) === "");
}

/** With nothing to match, only the line number, the anchor or the end determines the position. */
function placeInsertion(hunk: Hunk, search: Search): number {
  const { finder, from, number } = search;
  const { count } = finder.lines;
  if (hunk.anchors.length > 0) {
    const places = anchorChains(hunk, search);
    if (places.length > 1) throw ambiguous(places, search);
    return places[0]! + 1;
  }
  const line = hunk.atEnd || count === 0 ? count : hunk.line;
  if (line === undefined) {
    throw patchFailed(`hunk ${number} only adds lines: give it a context line or a line number`, {
      hunk: number,
    });
  }
  if (line > count || line < from) {
    const reason = line > count ? `the file has ${count} lines` : "an earlier hunk reaches beyond it";
    throw patchFailed(`hunk ${number} adds lines behind line ${line}, but ${reason}`, { hunk: number, line });
  }
  return line;
}

/** The first position after each match of the anchors; all positions when there are no anchors. */
function afterAnchors(places: readonly number[], hunk: Hunk, search: Search): readonly number[] {
  if (hunk.anchors.length === 0 || places.length === 0) return places;
  const next = anchorChains(hunk, search).map((anchor) => firstFrom(places, anchor));
  return [...new Set(next.filter((place) => place !== undefined))];
}

/** The lines of the innermost anchor, one per match of the outermost. */
function anchorChains({ anchors }: Hunk, search: Search): number[] {
  const [outermost, ...inner] = anchors.map((anchor) => anchorLines(anchor, search));
  const chains = inner.reduce<readonly number[]>(
    (ends, lines) => ends.map((end) => firstFrom(lines, end + 1)).filter((line) => line !== undefined),
    outermost!,
  );
  if (chains.length > 0) return [...new Set(chains)];
  const { number, finder, from, toDisplay } = search;
  const candidates = nearestCandidates(finder, [anchors.at(-1)!], from, toDisplay);
  const wanted = toDisplay(anchors.join("' and below it '"));
  throw patchFailed(`hunk ${number}: the file has no line '${wanted}' after the hunk before`, {
    hunk: number,
    candidates,
  });
}

/** Lines equal to the anchor except for whitespace; otherwise lines that contain it. */
function anchorLines(anchor: string, { finder, from }: Search): number[] {
  const same = finder.find([anchor], from, "whitespace");
  if (same.length > 0) return same;
  const part = squeeze(anchor);
  const holding: number[] = [];
  for (let at = from; at < finder.lines.count; at++) {
    if (squeeze(textAt(finder.lines, at)).includes(part)) holding.push(at);
  }
  return holding;
}

/** The first of the ascending numbers that is at least `least`. */
const firstFrom = (ascending: readonly number[], least: number): number | undefined =>
  ascending[countBelow(ascending, least)];

function ambiguous(places: readonly number[], search: Search) {
  const { number, finder, toDisplay } = search;
  const candidates = toCandidates(finder.lines, places, toDisplay);
  const lines = candidates.map(({ line }) => line + 1).join(", ");
  const message = `hunk ${number} fits ${places.length} places (lines ${lines}); add context or the right line number`;
  return patchFailed(message, { hunk: number, candidates });
}

function notFound(hunk: Hunk, wanted: readonly string[], stated: number, search: Search) {
  const { finder, from, number, toDisplay } = search;
  const misplaced = finder.find(wanted, 0, "exact");
  const near =
    misplaced.length > 0
      ? misplaced.map((line) => ({ line, wanted: wanted[0]! }))
      : nearestPlaces(finder, wanted, stated);
  const candidates = toCandidates(
    finder.lines,
    near.map(({ line }) => line),
    toDisplay,
  );
  return patchFailed(`hunk ${number} does not apply: ${reason()}`, {
    hunk: number,
    line: candidates[0]?.line ?? stated,
    candidates,
  });

  function reason(): string {
    if (misplaced.some((line) => line < from))
      return "its lines are before the end of the previous hunk; put hunks in order";
    if (misplaced.length > 0 && hunk.anchors.length > 0) return "its lines do not stand below its @@ anchor";
    if (misplaced.length > 0)
      return "it states that the file has no newline at its end, which is not the case there";
    const [nearest] = near;
    if (nearest === undefined) return "the file has nothing like its lines; read the file again";
    const expected = shorten(toDisplay(nearest.wanted));
    return `line ${nearest.line + 1} of the file is '${candidates[0]!.text}', the patch has '${expected}'`;
  }
}
