import { shuffle } from "./random.ts";

export interface Effort {
  readonly warmUpRounds: number;
  readonly minRounds: number;
  readonly maxRounds: number;
  /** No round begins after this long, once there are enough. */
  readonly budgetMs: number;
}

export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly samples: number;
}

/** Runs what is to be timed and resolves with what it measured, by default its duration in ms. */
export type Contender = (round: number) => Promise<number>;

/**
 * Measures all contenders in the same stretch of time, each once per round in an order drawn anew: what else the
 * machine does falls on all alike.
 */
export async function interleave<N extends string>(
  contenders: Readonly<Record<N, Contender>>,
  effort: Effort,
  random: () => number,
): Promise<Record<N, Spread>> {
  // Object.keys forgets the type of the keys.
  const names = Object.keys(contenders) as N[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<N, number[]>;
  let start = performance.now();
  for (let round = 0, counted = 0; ; round++) {
    if (round === effort.warmUpRounds) start = performance.now();
    const spent = performance.now() - start;
    if (counted >= effort.maxRounds || (counted >= effort.minRounds && spent > effort.budgetMs)) break;
    for (const name of shuffle(random, names)) {
      const measured = await contenders[name](round);
      if (round >= effort.warmUpRounds) samples[name].push(measured);
    }
    if (round >= effort.warmUpRounds) counted++;
  }
  return Object.fromEntries(names.map((name) => [name, toSpread(samples[name])])) as Record<N, Spread>;
}

export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function toSpread(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), samples: sorted.length };
}
