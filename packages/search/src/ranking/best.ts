export interface Scored {
  readonly id: number;
  readonly score: number;
}

/** A longer tie means that nothing really matches. */
const MAX_EQUALS = 1_000;

/**
 * The highest scores above 0, best first; ties in order of their ids. All that tie with the last one are
 * included, so that the selection never depends on ids.
 */
export function best(scores: Float64Array, limit: number): Scored[] {
  // Typed arrays sort in ascending order.
  const floor = scores.toSorted().at(-limit) ?? 0;
  const top: Scored[] = [];
  for (let id = 0; id < scores.length; id++) {
    const score = scores[id] ?? 0;
    if (score > 0 && score >= floor) top.push({ id, score });
  }
  return top.sort((a, b) => b.score - a.score || a.id - b.id).slice(0, limit + MAX_EQUALS);
}
