/** A list of scores and how often it counts. */
export interface WeighedScores {
  readonly scores: Float64Array;
  readonly weight: number;
}

/**
 * Adds score lists of different kinds as z-scores, each times its weight. Entries of the first list stay above 0;
 * others only when they stand out.
 */
export function addStandardised(
  lists: readonly WeighedScores[],
  /** The actual number of entries: removed ones have 0 in all lists. */
  count = sizeOf(lists),
): Float64Array {
  const first = lists[0]?.scores ?? new Float64Array(0);
  const scaled = lists.map(({ scores, weight }) => {
    const { mean, deviation } = spreadOf(scores, count);
    return { scores, mean, unit: weight / deviation };
  });
  const middle = scaled.reduce((total, { mean, unit }) => total + mean * unit, 0);
  const sum = new Float64Array(sizeOf(lists));
  for (let at = 0; at < sum.length; at++) {
    let score = 0;
    let isHeld = false;
    for (const { scores, unit } of scaled) {
      const own = scores[at] ?? 0;
      if (own > 0) isHeld = true;
      score += own * unit;
    }
    if (isHeld) sum[at] = Math.max((first[at] ?? 0) > 0 ? Number.MIN_VALUE : 0, score - middle);
  }
  return sum;
}

const sizeOf = (lists: readonly WeighedScores[]): number =>
  Math.max(0, ...lists.map(({ scores }) => scores.length));

/** How far two score lists agree: their correlation, from -1 to 1. */
export function agreementOf(a: Float64Array, b: Float64Array): number {
  const [ofA, ofB] = [spreadOf(a, a.length), spreadOf(b, b.length)];
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += ((a[at] ?? 0) - ofA.mean) * ((b[at] ?? 0) - ofB.mean);
  return sum / (a.length || 1) / (ofA.deviation * ofB.deviation);
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
