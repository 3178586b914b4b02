import {
  createLexicalIndex,
  type FieldTerms,
  LEXICAL_WEIGHTS,
  type LexicalWeights,
} from "../lexical/bm25f.ts";
import { best, type Scored } from "../ranking/best.ts";
import { addStandardised, ranksIn } from "../ranking/standardise.ts";
import { createEmbeddedStore } from "../vector/embedded-store.ts";
import type { PlacedVector, VectorStore } from "../vector/vector-store.ts";

/** In the order in which they are added up. */
const STRATEGIES = ["text", "vector"] as const;
export type RankStrategy = (typeof STRATEGIES)[number];

export interface RankedChunk extends Scored {
  /** Its place in each list that has it, from 1. */
  readonly why: readonly { readonly strategy: RankStrategy; readonly rank: number }[];
}

export interface RankQuestion {
  readonly terms: readonly string[];
  /** Where the question lies; without it meaning finds nothing. */
  readonly vector: Float32Array | undefined;
  readonly strategies: readonly RankStrategy[];
  readonly limit: number;
  /** Only chunks of these files. */
  readonly files?: ReadonlySet<number>;
}

/** Ranks chunks for a question by their words, by their meaning, or by both. */
export interface ChunkRanker {
  add(id: number, file: number, terms: FieldTerms): void;
  /** Chunks that are not known are passed over. */
  place(entries: readonly PlacedVector[]): Promise<void>;
  remove(ids: Iterable<number>): Promise<void>;
  has(id: number): boolean;
  ids(): IterableIterator<number>;
  readonly size: number;
  /** How many were removed and still take up room. */
  readonly wasted: number;
  rank(question: RankQuestion): Promise<RankedChunk[]>;
  close(): Promise<void>;
}

export interface ChunkRankerOptions {
  readonly lexical?: LexicalWeights;
  /** How much the list by meaning counts beside the list by words. */
  readonly vectorWeight?: number;
  readonly vectors?: VectorStore;
}

/** Found on the tuning half of `npm run eval`; equal ranks (reciprocal rank fusion) lose to the better list alone. */
export const VECTOR_WEIGHT = 6;

export function createChunkRanker(options: ChunkRankerOptions = {}): ChunkRanker {
  const { lexical = LEXICAL_WEIGHTS, vectorWeight = VECTOR_WEIGHT } = options;
  const words = createLexicalIndex(lexical);
  const vectors = options.vectors ?? createEmbeddedStore();
  // Chunks have a slot each: their own numbers grow with every edit, and lists of scores must not.
  const slots = new Map<number, number>();
  const chunks: { readonly id: number; readonly file: number }[] = [];

  const scoresBy: Record<RankStrategy, (question: RankQuestion) => Promise<Float64Array>> = {
    text: async ({ terms }) => words.scores(terms),
    vector: async ({ vector }) => (vector ? vectors.scores(vector) : new Float64Array(0)),
  };

  return {
    add(id, file, terms) {
      slots.set(id, chunks.length);
      words.add(chunks.length, terms);
      chunks.push({ id, file });
    },
    async place(entries) {
      await vectors.put(
        entries.flatMap(({ id, vector }) => {
          const slot = slots.get(id);
          return slot === undefined ? [] : [{ id: slot, vector }];
        }),
      );
    },
    async remove(ids) {
      const gone: number[] = [];
      for (const id of ids) {
        const slot = slots.get(id);
        if (slot === undefined) continue;
        slots.delete(id);
        words.remove(slot);
        gone.push(slot);
      }
      await vectors.remove(gone);
    },
    has: (id) => slots.has(id),
    ids: () => slots.keys(),
    get size() {
      return slots.size;
    },
    get wasted() {
      return chunks.length - slots.size;
    },
    close: async () => vectors.close(),
    async rank(question) {
      const { strategies, limit, files } = question;
      const lists = await Promise.all(
        STRATEGIES.filter((strategy) => strategies.includes(strategy)).map(async (strategy) => ({
          strategy,
          scores: await scoresBy[strategy](question),
        })),
      );
      const [first, second] = lists;
      if (!first) return [];
      const fused = second ? addStandardised(first.scores, second.scores, vectorWeight) : first.scores;
      if (files) for (const [slot, { file }] of chunks.entries()) if (!files.has(file)) fused[slot] = 0;
      const top = best(fused, limit);
      const ranked = lists.map(({ strategy, scores }) => {
        const has = top.filter(({ id }) => (scores[id] ?? 0) > 0).map(({ id }) => id);
        const ranks = ranksIn(scores, has);
        return { strategy, ranks: new Map(has.map((slot, at) => [slot, ranks[at] ?? 0])) };
      });
      return top.flatMap(({ id: slot, score }) => {
        const chunk = chunks[slot];
        const why = ranked.flatMap(({ strategy, ranks }) => {
          const rank = ranks.get(slot);
          return rank === undefined ? [] : [{ strategy, rank }];
        });
        return chunk ? [{ id: chunk.id, score, why }] : [];
      });
    },
  };
}
