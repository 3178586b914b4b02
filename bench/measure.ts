import { shuffle } from "./random.ts";

export interface Effort {
  /** Not counted: until the code of both sides is compiled and the caches are warm, or for half of `maxRounds`. */
  readonly warmUpMs: number;
  readonly minRounds: number;
  readonly maxRounds: number;
  /** No round starts after this long, once there are enough. */
  readonly budgetMs: number;
}

export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly samples: number;
}

/** Runs the timed work and resolves with its measurement, by default the duration in ms. */
export type Contender = (round: number) => Promise<number>;

/**
 * Measures all contenders in the same period, each once per round in random order: other load on the machine affects
 * all equally.
 */
export async function interleave<N extends string>(
  contenders: Readonly<Record<N, Contender>>,
  effort: Effort,
  random: () => number,
): Promise<Record<N, Spread>> {
  // Object.keys widens the keys to string.
  const names = Object.keys(contenders) as N[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<N, number[]>;
  let round = 0;
  const runRound = async (keep: boolean) => {
    for (const name of shuffle(random, names)) {
      const measured = await contenders[name](round);
      if (keep) samples[name].push(measured);
    }
    round++;
  };

  const { warmUpMs, minRounds, maxRounds, budgetMs } = effort;
  for (
    const isOver = stopwatch(warmUpMs);
    round < MIN_WARM_UP_ROUNDS || !(isOver() || round >= maxRounds / 2);
  )
    await runRound(false);
  const isOver = stopwatch(budgetMs);
  for (let kept = 0; kept < minRounds || (kept < maxRounds && !isOver()); kept++) await runRound(true);
  return Object.fromEntries(names.map((name) => [name, toSpread(samples[name])])) as Record<N, Spread>;
}

const MIN_WARM_UP_ROUNDS = 3;

function stopwatch(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() > end;
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
