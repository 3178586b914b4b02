export interface Scored {
  readonly id: number;
  readonly score: number;
}

/** The highest scores above the floor, best first, without sorting all of them; of equals the one with the lower number. */
export function best(scores: Float64Array, limit: number): Scored[] {
  const top: Scored[] = [];
  for (let id = 0; id < scores.length; id++) {
    const score = scores[id] ?? 0;
    if (score <= 0 || (top.length === limit && score <= (top.at(-1)?.score ?? 0))) continue;
    let at = top.length;
    while (at > 0 && (top[at - 1]?.score ?? 0) < score) at--;
    top.splice(at, 0, { id, score });
    if (top.length > limit) top.pop();
  }
  return top;
}
