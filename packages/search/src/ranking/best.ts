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
  const floor = lowestOfBest(scores, limit);
  const top: Scored[] = [];
  for (let id = 0; id < scores.length; id++) {
    const score = scores[id] ?? 0;
    if (score > 0 && score >= floor) top.push({ id, score });
  }
  return top.sort((a, b) => b.score - a.score || a.id - b.id).slice(0, limit + MAX_EQUALS);
}

/** The score of the last listed entry, found without a full sort. */
function lowestOfBest(scores: Float64Array, limit: number): number {
  const heap = new Float64Array(limit);
  for (let id = 0; id < scores.length; id++) {
    const score = scores[id] ?? 0;
    if (score <= (heap[0] ?? 0)) continue;
    heap[0] = score;
    sink(heap);
  }
  return heap[0] ?? 0;
}

/** Restores the heap order after its first (lowest) element changed. */
function sink(heap: Float64Array): void {
  for (let at = 0; ; ) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    let lowest = at;
    if (left < heap.length && (heap[left] ?? 0) < (heap[lowest] ?? 0)) lowest = left;
    if (right < heap.length && (heap[right] ?? 0) < (heap[lowest] ?? 0)) lowest = right;
    if (lowest === at) return;
    const moved = heap[at] ?? 0;
    heap[at] = heap[lowest] ?? 0;
    heap[lowest] = moved;
    at = lowest;
  }
}
