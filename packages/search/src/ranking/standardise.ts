/**
 * Adds two lists of scores of different kinds, each by how far a score stands out of its own list. Of the second,
 * `weight` times as much.
 */
export function addStandardised(a: Float64Array, b: Float64Array, weight: number): Float64Array {
  const size = Math.max(a.length, b.length);
  const [ofA, ofB] = [spreadOf(a, size), spreadOf(b, size)];
  const sum = new Float64Array(size);
  for (let at = 0; at < size; at++) {
    const [scoreA, scoreB] = [a[at] ?? 0, b[at] ?? 0];
    // What neither list has is not found at all.
    if (scoreA <= 0 && scoreB <= 0) continue;
    sum[at] = (scoreA - ofA.mean) / ofA.deviation + (weight * (scoreB - ofB.mean)) / ofB.deviation;
  }
  return sum;
}

function spreadOf(scores: Float64Array, size: number): { mean: number; deviation: number } {
  let sum = 0;
  let squares = 0;
  for (const score of scores) {
    sum += score;
    squares += score * score;
  }
  const mean = size > 0 ? sum / size : 0;
  return { mean, deviation: Math.sqrt(Math.max(0, squares / (size || 1) - mean * mean)) || 1 };
}

/** The place of an entry in the list of scores, from 1. */
export function rankIn(scores: Float64Array, id: number): number {
  const own = scores[id] ?? 0;
  let rank = 1;
  for (const score of scores) if (score > own) rank++;
  return rank;
}
