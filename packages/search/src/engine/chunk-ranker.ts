import {
  createLexicalIndex,
  type FieldTerms,
  LEXICAL_WEIGHTS,
  type LexicalWeights,
} from "../lexical/bm25f.ts";
import { best, type Scored } from "../ranking/best.ts";
import { addStandardised, rankIn } from "../ranking/standardise.ts";
import { createLatentSpace, type LatentSpace, learnLatentSpace } from "../vector/latent-space.ts";
import { createVectors } from "../vector/vectors.ts";

export type RankStrategy = "text" | "vector";

export interface RankedChunk extends Scored {
  /** Its place in each list that has it, from 1. */
  readonly why: readonly { readonly strategy: RankStrategy; readonly rank: number }[];
}

/** Ranks chunks for a question by their words, by their meaning, or by both. */
export interface ChunkRanker {
  add(id: number, terms: FieldTerms): void;
  remove(id: number): void;
  /** Learns what the words mean from the chunks themselves; before that, meaning finds nothing. */
  learn(): void;
  /** Whether so much has changed since `learn` that it is worth doing again. */
  readonly stale: boolean;
  rank(terms: readonly string[], strategies: readonly RankStrategy[], limit: number): RankedChunk[];
}

export interface ChunkRankerOptions {
  readonly lexical?: LexicalWeights;
  /** How much the list by meaning counts beside the list by words. */
  readonly vectorWeight?: number;
}

/** Found on the tuning half of `npm run eval`; equal ranks (reciprocal rank fusion) lose to the better list alone. */
export const VECTOR_WEIGHT = 0.5;
/** Enough to learn from; more would take longer and tell nothing new. */
const MAX_LESSONS = 8_000;
/** A name says more about what a function means than any one word of its body. */
const NAME_TIMES = 3;
/** Words beyond these say nothing more about the meaning of a chunk. */
const MAX_TERMS = 400;

export function createChunkRanker(options: ChunkRankerOptions = {}): ChunkRanker {
  const { lexical = LEXICAL_WEIGHTS, vectorWeight = VECTOR_WEIGHT } = options;
  const words = createLexicalIndex(lexical);
  const texts = new Map<number, readonly string[]>();
  const vectors = createVectors();
  let space: LatentSpace | undefined;
  let changes = 0;

  const place = (id: number, terms: readonly string[]) => {
    if (space) vectors.put(id, space.place(terms));
  };
  const scoresBy: Record<RankStrategy, (terms: readonly string[]) => Float64Array> = {
    text: words.scores,
    vector: (terms) => (space ? vectors.scores(space.place(terms)) : new Float64Array(0)),
  };

  return {
    add(id, terms) {
      words.add(id, terms);
      const text = meaningOf(terms);
      texts.set(id, text);
      place(id, text);
      changes++;
    },
    remove(id) {
      words.remove(id);
      texts.delete(id);
      vectors.remove(id);
      changes++;
    },
    learn() {
      const step = Math.max(1, Math.ceil(texts.size / MAX_LESSONS));
      const lessons = [...texts.values()].filter((_, at) => at % step === 0);
      space = createLatentSpace(learnLatentSpace(lessons));
      vectors.clear(space.dimensions);
      for (const [id, text] of texts) place(id, text);
      changes = 0;
    },
    get stale() {
      return texts.size > 0 && (!space || changes > texts.size / 4);
    },
    rank(terms, strategies, limit) {
      const lists = strategies.map((strategy) => ({ strategy, scores: scoresBy[strategy](terms) }));
      const [first, second] = lists;
      if (!first) return [];
      const fused = second ? addStandardised(first.scores, second.scores, vectorWeight) : first.scores;
      return best(fused, limit).map(({ id, score }) => ({
        id,
        score,
        why: lists
          .filter(({ scores }) => (scores[id] ?? 0) > 0)
          .map(({ strategy, scores }) => ({ strategy, rank: rankIn(scores, id) })),
      }));
    },
  };
}

const meaningOf = ({ name, container, signature, doc, body }: FieldTerms): readonly string[] =>
  [
    ...Array.from({ length: NAME_TIMES }, () => name).flat(),
    ...container,
    ...signature,
    ...doc,
    ...body,
  ].slice(0, MAX_TERMS);
