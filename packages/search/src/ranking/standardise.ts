/**
 * Adds two score lists of different kinds as z-scores, the second `weight` times. Entries of the first list
 * stay above 0; others only when they stand out.
 */
export function addStandardised(
  a: Float64Array,
  b: Float64Array,
  weight: number,
  /** The actual number of entries: removed ones have 0 in both lists. */
  count = Math.max(a.length, b.length),
): Float64Array {
  const size = Math.max(a.length, b.length);
  const [spreadOfA, spreadOfB] = [spreadOf(a, count), spreadOf(b, count)];
  const [unitOfA, unitOfB] = [1 / spreadOfA.deviation, weight / spreadOfB.deviation];
  const middle = spreadOfA.mean * unitOfA + spreadOfB.mean * unitOfB;
  const sum = new Float64Array(size);
  for (let at = 0; at < size; at++) {
    const [scoreA, scoreB] = [a[at] ?? 0, b[at] ?? 0];
    if (scoreA <= 0 && scoreB <= 0) continue;
    const score = scoreA * unitOfA + scoreB * unitOfB - middle;
    sum[at] = scoreA > 0 ? Math.max(Number.MIN_VALUE, score) : Math.max(0, score);
  }
  return sum;
}

function spreadOf(scores: Float64Array, size: number): { mean: number; deviation: number } {
  let sum = 0;
  let squares = 0;
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at] ?? 0;
    sum += score;
    squares += score * score;
  }
  const mean = sum / (size || 1);
  return { mean, deviation: Math.sqrt(Math.max(0, squares / (size || 1) - mean * mean)) || 1 };
}

/** The ranks of some entries in a score list, from 1, in one pass. */
export function ranksIn(scores: Float64Array, ids: readonly number[]): number[] {
  const own = ids.map((id) => scores[id] ?? 0);
  const lowest = Math.min(...own);
  const ranks = own.map(() => 1);
  for (let id = 0; id < scores.length; id++) {
    const score = scores[id] ?? 0;
    if (score <= lowest) continue;
    for (let at = 0; at < own.length; at++) if (score > (own[at] ?? 0)) ranks[at] = (ranks[at] ?? 0) + 1;
  }
  return ranks;
}
