/** The quality of top-ten lists: MRR@10, recall@10 and precision@1, as means over questions. */
import type { Place, Question } from "./corpus.ts";
import { createRandom } from "./random.ts";

export interface Scores {
  readonly mrr: number;
  readonly recall: number;
  readonly first: number;
}

export const LIST_LENGTH = 10;

/** The score of a list of locations for a question; every entry counts, whatever its kind. */
export function scoreOf({ answers }: Question, listed: readonly Pick<Place, "path" | "firstLine">[]): Scores {
  const found = new Set<Place>();
  let rank = 0;
  for (const [at, { path, firstLine }] of listed.slice(0, LIST_LENGTH).entries()) {
    const hit = answers.filter(
      (answer) => answer.path === path && answer.firstLine <= firstLine && firstLine <= answer.lastLine,
    );
    if (hit.length > 0 && rank === 0) rank = at + 1;
    for (const answer of hit) found.add(answer);
  }
  return {
    mrr: rank ? 1 / rank : 0,
    recall: found.size / Math.min(LIST_LENGTH, answers.length),
    first: rank === 1 ? 1 : 0,
  };
}

export const meanOf = (all: readonly Scores[]): Scores => {
  const mean = (value: (scores: Scores) => number) =>
    all.reduce((sum, scores) => sum + value(scores), 0) / Math.max(1, all.length);
  return {
    mrr: mean(({ mrr }) => mrr),
    recall: mean(({ recall }) => recall),
    first: mean(({ first }) => first),
  };
};

const RESAMPLED = 2_000;

/** The confidence of a difference: the 95 % interval of the mean over resampled pairs of questions. */
export function bootstrap(differences: readonly number[], seed: number): { low: number; high: number } {
  const random = createRandom(seed);
  const means = Array.from({ length: RESAMPLED }, () => {
    let sum = 0;
    for (let n = 0; n < differences.length; n++)
      sum += differences[Math.floor(random() * differences.length)] ?? 0;
    return sum / differences.length;
  }).sort((a, b) => a - b);
  return { low: means[Math.floor(RESAMPLED * 0.025)] ?? 0, high: means[Math.floor(RESAMPLED * 0.975)] ?? 0 };
}
