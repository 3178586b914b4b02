import { createPostings } from "./postings.ts";

/** The parts of a chunk that are weighed apart. */
export const FIELDS = ["name", "container", "path", "signature", "doc", "body"] as const;
export type Field = (typeof FIELDS)[number];
export type FieldTerms = Readonly<Record<Field, readonly string[]>>;

export interface LexicalWeights {
  readonly weights: Readonly<Record<Field, number>>;
  /** How much the length of a field counts against it, from 0 to 1. */
  readonly lengthPenalty: Readonly<Record<Field, number>>;
  /** How many words a field has as a rule. A constant, so that a score depends on no other document's length. */
  readonly typicalLength: Readonly<Record<Field, number>>;
  /** How slowly repeated words stop to count. */
  readonly saturation: number;
}

/** Found on the tuning half of `npm run eval`. */
export const LEXICAL_WEIGHTS: LexicalWeights = {
  weights: { name: 6, container: 4, path: 2.8, signature: 1, doc: 2, body: 0.18 },
  lengthPenalty: { name: 0.84, container: 0.84, path: 0.3, signature: 0.25, doc: 0.5, body: 1 },
  typicalLength: { name: 2, container: 1, path: 6, signature: 8, doc: 12, body: 50 },
  saturation: 8.4,
};

/** BM25 over weighted fields: a word in the name counts more than the same word in the body. */
export interface LexicalIndex {
  /** Numbers are small and dense: they are places in the lists of scores. */
  add(id: number, document: FieldTerms): void;
  /** What is removed costs memory until the index is built anew. */
  remove(id: number): void;
  /** How well each document fits, by its number; 0 when it has none of the words. */
  scores(terms: readonly string[]): Float64Array;
}

export function createLexicalIndex(options: LexicalWeights = LEXICAL_WEIGHTS): LexicalIndex {
  const { weights, lengthPenalty, typicalLength, saturation } = options;
  const postings = createPostings();
  const removed = new Set<number>();
  let documents = 0;
  let size = 0;

  return {
    add(id, document) {
      documents++;
      size = Math.max(size, id + 1);
      const counts = new Map<string, number>();
      for (const field of FIELDS) {
        const terms = document[field];
        const b = lengthPenalty[field];
        const weight = weights[field] / (1 - b + (b * terms.length) / typicalLength[field]);
        for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + weight);
      }
      for (const [term, weight] of counts) postings.add(term, id, weight);
    },
    remove(id) {
      removed.add(id);
    },
    scores(terms) {
      const scores = new Float64Array(size);
      for (const [term, times] of countTerms(terms)) {
        const holders = postings.count(term);
        const rarity = Math.log(1 + (documents - holders + 0.5) / (holders + 0.5));
        postings.forEach(term, (id, weight) => {
          scores[id] = (scores[id] ?? 0) + (times * rarity * weight) / (saturation + weight);
        });
      }
      for (const id of removed) scores[id] = 0;
      return scores;
    },
  };
}

export function countTerms(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}
