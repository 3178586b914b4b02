import { best } from "./best.ts";

/** How slowly the weight of a rank falls. */
const SMOOTHING = 60;
/** Lower ranks carry no information. */
const MAX_RANKED = 1_000;

/** Reciprocal rank fusion of two score lists: each contributes 1 / (60 + rank). */
export function addReciprocalRanks(a: Float64Array, b: Float64Array): Float64Array {
  const sum = new Float64Array(Math.max(a.length, b.length));
  for (const scores of [a, b])
    for (const [at, { id }] of best(scores, MAX_RANKED).entries())
      sum[id] = (sum[id] ?? 0) + 1 / (SMOOTHING + at + 1);
  return sum;
}
