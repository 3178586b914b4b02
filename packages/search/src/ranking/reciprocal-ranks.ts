import { best } from "./best.ts";

/** How fast the first places stop to count more than the next ones. */
const SMOOTHING = 60;
/** Beyond these, places of a list tell nothing. */
const MAX_RANKED = 1_000;

/** Reciprocal rank fusion of two lists of scores: each counts 1 / (60 + the place in it). */
export function addReciprocalRanks(a: Float64Array, b: Float64Array): Float64Array {
  const sum = new Float64Array(Math.max(a.length, b.length));
  for (const scores of [a, b])
    for (const [at, { id }] of best(scores, MAX_RANKED).entries())
      sum[id] = (sum[id] ?? 0) + 1 / (SMOOTHING + at + 1);
  return sum;
}
