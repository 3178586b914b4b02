/**
 * Adds two lists of scores of different kinds, each measured by how far scores spread in its own list (z-scores, but
 * for a constant that changes no order). Of the second, `weight` times as much. What either list has stays above 0.
 */
export function addStandardised(a: Float64Array, b: Float64Array, weight: number): Float64Array {
  const size = Math.max(a.length, b.length);
  const [unitOfA, unitOfB] = [1 / deviationOf(a, size), weight / deviationOf(b, size)];
  const sum = new Float64Array(size);
  for (let at = 0; at < size; at++) {
    const [scoreA, scoreB] = [a[at] ?? 0, b[at] ?? 0];
    if (scoreA <= 0 && scoreB <= 0) continue;
    sum[at] = Math.max(Number.MIN_VALUE, scoreA * unitOfA + scoreB * unitOfB);
  }
  return sum;
}

function deviationOf(scores: Float64Array, size: number): number {
  let sum = 0;
  let squares = 0;
  for (const score of scores) {
    sum += score;
    squares += score * score;
  }
  const mean = sum / (size || 1);
  return Math.sqrt(Math.max(0, squares / (size || 1) - mean * mean)) || 1;
}

/** The places of some entries in the list of scores, from 1, in one go through it. */
export function ranksIn(scores: Float64Array, ids: readonly number[]): number[] {
  const own = ids.map((id) => scores[id] ?? 0);
  const lowest = Math.min(...own);
  const ranks = own.map(() => 1);
  for (const score of scores) {
    if (score <= lowest) continue;
    for (let at = 0; at < own.length; at++) if (score > (own[at] ?? 0)) ranks[at] = (ranks[at] ?? 0) + 1;
  }
  return ranks;
}
