import type { Range } from "@octant/core";
import type { StoredSymbol } from "../engine/store.ts";
import { distanceFromCode } from "../engine/traits.ts";
import type { Found, GrepMatch, RankedList, SearchParts, SearchRequest } from "./hit.ts";

/** Literal matches to examine; a more common text is better found by another query. */
const MAX_LITERAL = 500;

/** Literal matches: those in the project's own code first, then in tests, then in documentation and data. */
export async function literal(
  parts: SearchParts,
  request: SearchRequest,
  text: string,
  isWanted: (match: GrepMatch) => boolean = () => true,
): Promise<RankedList> {
  const { scope, signal } = request;
  const matches = await parts.grep(text, { scope, limit: MAX_LITERAL, signal });
  const places = matches.filter(isWanted).map(({ path, range }) => ({ path, range, hash: null }));
  const found = await withSymbols(parts.engine, places);
  return { strategy: "literal", found: found.toSorted(byDistance) };
}

export const byDistance = (a: Found, b: Found): number => distanceOf(a) - distanceOf(b);

export const distanceOf = ({ path, symbol }: Found): number => distanceFromCode(path, symbol ?? "");

/** Longer texts are sentences, which rarely occur literally. */
const MAX_LITERAL_WORDS = 8;
const ASKS = /^(?:how|where|what|when|which|who|why|does|do|is|are|find|show|list)\b|\?$/i;

export const canBeLiteral = (text: string): boolean =>
  !text.endsWith("?") && text.split(/\s+/).length <= MAX_LITERAL_WORDS;

/** One word in quotes is a name, which the ranking by words finds. */
const QUOTED = /(?<!\w)(["'`])((?:(?!\1).)+\s(?:(?!\1).)+)\1(?!\w)/;

/** The part of a question that may occur literally: a quoted phrase, or a short phrase as a whole. */
export function literalPart(question: string): string | undefined {
  const quoted = QUOTED.exec(question)?.[2];
  if (quoted !== undefined) return quoted;
  return /\s/.test(question) && canBeLiteral(question) && !ASKS.test(question) ? question : undefined;
}

const COMMENT = /^\s*(?:\/\/|\/?\*|#|--|<!--)/;

/** Whether a match seems to be in a string literal: a comment that has the phrase may be about anything. */
export const isInString = ({ line, range }: GrepMatch): boolean =>
  !COMMENT.test(line) && /["'`]/.test(line.slice(0, range.start.col));

/** Adds the innermost enclosing symbol to each location, where the file is indexed. */
export async function withSymbols(
  engine: SearchParts["engine"],
  places: readonly { path: string; range: Range; hash: string | null }[],
): Promise<Found[]> {
  const outlines = new Map<string, Promise<StoredSymbol[]>>();
  const outlineOf = (path: string) => {
    const known = outlines.get(path) ?? engine.outline(path);
    outlines.set(path, known);
    return known;
  };
  return Promise.all(
    places.map(async (place) => {
      const outline = await outlineOf(place.path);
      // Symbols come in source order, the outer before the inner.
      const symbol = outline.findLast(
        ({ range, hash }) => contains(range, place.range) && (place.hash ?? hash) === hash,
      );
      return {
        ...place,
        hash: place.hash ?? symbol?.hash ?? null,
        symbol: symbol?.path ?? null,
        kind: symbol?.kind ?? "lines",
      };
    }),
  );
}

const contains = (outer: Range, inner: Range) =>
  isBefore(outer.start, inner.start) && isBefore(inner.end, outer.end);

const isBefore = (a: Range["start"], b: Range["start"]) =>
  a.line < b.line || (a.line === b.line && a.col <= b.col);
