/** The parts of a chunk that are weighted separately. */
export const FIELDS = ["name", "container", "path", "signature", "doc", "body"] as const;
export type Field = (typeof FIELDS)[number];
export type FieldTerms = Readonly<Record<Field, readonly string[]>>;

export interface LexicalWeights {
  readonly weights: Readonly<Record<Field, number>>;
  /** How strongly the length of a field lowers its weights, from 0 to 1. */
  readonly lengthPenalty: Readonly<Record<Field, number>>;
  /** The typical number of words in a field. A constant, so that a weight does not depend on other chunks. */
  readonly typicalLength: Readonly<Record<Field, number>>;
  /** How slowly repetitions of a word lose their effect. */
  readonly saturation: number;
}

/** Tuned on the dev split of `npm run eval`. */
export const LEXICAL_WEIGHTS: LexicalWeights = {
  weights: { name: 5, container: 6, path: 2, signature: 1, doc: 2, body: 0.5 },
  lengthPenalty: { name: 0.4, container: 0.6, path: 0.3, signature: 0.5, doc: 0.5, body: 0.75 },
  typicalLength: { name: 2, container: 1, path: 6, signature: 8, doc: 12, body: 50 },
  saturation: 3,
};

export interface WeighedTerms {
  readonly terms: readonly string[];
  /** In the order of the terms, from 0 to `FULL_WEIGHT`. */
  readonly weights: Uint16Array;
}

/** The highest weight of a term. */
export const FULL_WEIGHT = 65_535;

/**
 * BM25 over weighted fields without the inverse document frequency: each term of a chunk once, with its
 * weight.
 */
export function weighTerms(chunk: FieldTerms, options: LexicalWeights = LEXICAL_WEIGHTS): WeighedTerms {
  const { weights, lengthPenalty, typicalLength, saturation } = options;
  const sums = new Map<string, number>();
  for (const field of FIELDS) {
    const terms = chunk[field];
    const b = lengthPenalty[field];
    const each = weights[field] / (1 - b + (b * terms.length) / typicalLength[field]);
    for (const term of terms) sums.set(term, (sums.get(term) ?? 0) + each);
  }
  const weighed = new Uint16Array(sums.size);
  let at = 0;
  for (const sum of sums.values()) weighed[at++] = Math.max(1, (FULL_WEIGHT * sum) / (saturation + sum));
  return { terms: [...sums.keys()], weights: weighed };
}

/** The inverse document frequency of a term in `holders` of `all` chunks. */
export const rarityOf = (holders: number, all: number): number =>
  Math.log(1 + (Math.max(0, all - holders) + 0.5) / (holders + 0.5));
