import type { Found, Hit, RankedList } from "./hit.ts";

/** How slowly the weight of a rank falls. */
const SMOOTHING = 60;

/**
 * Reciprocal rank fusion, for lists whose scores cannot be compared: a hit with rank r in a list
 * gets 1/(60 + r) for it. Hits in the same symbol are merged; the first list that has one determines its location.
 */
export function fuse(lists: readonly RankedList[], limit = Number.POSITIVE_INFINITY): Hit[] {
  const hits = new Map<string, Hit>();
  for (const { strategy, found } of lists) {
    for (const [at, hit] of withoutDoubles(found).entries()) {
      const key = keyOf(hit);
      const rank = at + 1;
      const known = hits.get(key) ?? { ...hit, score: 0, why: [] };
      const score = known.score + 1 / (SMOOTHING + rank);
      hits.set(key, { ...known, score, why: [...known.why, { strategy, rank }] });
    }
  }
  return [...hits.values()].sort((a, b) => b.score - a.score).slice(0, limit);
}

/** Concatenates lists and merges duplicate hits. */
export function inTurn(lists: readonly (readonly Hit[])[], limit: number): Hit[] {
  const hits = new Map<string, Hit>();
  for (const hit of lists.flat()) {
    const known = hits.get(keyOf(hit));
    hits.set(keyOf(hit), known ? { ...known, why: [...known.why, ...hit.why] } : hit);
  }
  return [...hits.values()].slice(0, limit);
}

function withoutDoubles(found: readonly Found[]): Found[] {
  const seen = new Set<string>();
  return found.filter((hit) => {
    const key = keyOf(hit);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

const keyOf = ({ path, symbol, range }: Found): string =>
  `${path}\n${symbol ?? (range ? `${range.start.line}` : "")}`;
