/** The result of one kind of torture. */
export interface Report {
  readonly what: string;
  readonly facts: string;
  /** Empty when everything held. */
  readonly violations: readonly string[];
}

export type Torture = (
  count: number,
  random: () => number,
  onProgress: (done: number) => void,
) => Promise<Report>;

/** Repeats the same numbers for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
