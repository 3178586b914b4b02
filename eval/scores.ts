/** How good lists of ten are: MRR@10, recall@10 and precision@1, as means over questions. */
export interface Scores {
  readonly questions: number;
  readonly mrr: number;
  readonly recall: number;
  readonly first: number;
}

export interface Tally {
  /** The place of the answer in the list, from 0; below 0 when it is not there. */
  add(place: number): void;
  scores(): Scores;
}

export const LIST_LENGTH = 10;

export function createTally(): Tally {
  let [questions, mrr, recall, first] = [0, 0, 0, 0];
  return {
    add(place) {
      questions++;
      if (place < 0 || place >= LIST_LENGTH) return;
      mrr += 1 / (place + 1);
      recall++;
      if (place === 0) first++;
    },
    scores: () => ({
      questions,
      mrr: mrr / questions,
      recall: recall / questions,
      first: first / questions,
    }),
  };
}

export const meanOf = (all: readonly Scores[]): Scores => {
  const mean = (value: (scores: Scores) => number) =>
    all.reduce((sum, scores) => sum + value(scores), 0) / all.length;
  return {
    questions: all.reduce((sum, { questions }) => sum + questions, 0),
    mrr: mean(({ mrr }) => mrr),
    recall: mean(({ recall }) => recall),
    first: mean(({ first }) => first),
  };
};
