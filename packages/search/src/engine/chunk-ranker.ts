import { createPostings } from "../lexical/postings.ts";
import type { AskedTerm } from "../lexical/question-terms.ts";
import { FULL_WEIGHT, rarityOf } from "../lexical/weigh-terms.ts";
import { best, type Scored } from "../ranking/best.ts";
import { addReciprocalRanks } from "../ranking/reciprocal-ranks.ts";
import { addStandardised, ranksIn } from "../ranking/standardise.ts";
import { createEmbeddedStore } from "../vector/embedded-store.ts";
import type { PackedVector } from "../vector/packed.ts";
import type { PlacedVector, VectorBlock, VectorStore } from "../vector/vector-store.ts";

/** In the order in which their scores are added. */
const STRATEGIES = ["text", "vector"] as const;
export type RankStrategy = (typeof STRATEGIES)[number];

export interface RankedChunk extends Scored {
  readonly copy: number;
  /** Its rank in each list that contains it, from 1. */
  readonly why: readonly { readonly strategy: RankStrategy; readonly rank: number }[];
}

export interface RankQuestion {
  readonly terms: readonly AskedTerm[];
  /** The embedding of the question; without it the vector strategy returns nothing. */
  readonly vector: PackedVector | undefined;
  readonly strategies: readonly RankStrategy[];
  readonly limit: number;
  /** Restricts the results to these files. */
  readonly files?: ReadonlySet<number>;
  /** The factor applied to a chunk's score for each combination of traits. */
  readonly traitFactors: Float64Array;
}

/** The facts about a chunk other than its terms and its location. */
export interface ChunkFacts {
  readonly id: number;
  readonly file: number;
  readonly traits: number;
  readonly copy: number;
}

/** Many chunks that were sealed together; their postings stay on disk. */
export interface RankedBlock {
  readonly number: number;
  readonly ids: Uint32Array;
  readonly files: Uint32Array;
  readonly traits: Uint8Array;
  readonly copies: Uint32Array;
}

/** The postings of a term in a sealed block: pairs of a chunk's offset and its weight. */
export interface BlockPostings {
  readonly block: number;
  readonly entries: Uint16Array;
}

/** Ranks chunks for a question by their terms, by their vectors, or by both. */
export interface ChunkRanker {
  /**
   * Blocks must be added before chunks. `placed` has the vectors of its chunks in order; omit it when they
   * come later.
   */
  addBlock(block: RankedBlock, placed?: VectorBlock): Promise<void>;
  /** Ignores a chunk that was already added. */
  add(chunk: ChunkFacts, terms: readonly string[], weights: Uint16Array): void;
  /** Ignores unknown chunks. */
  place(entries: readonly PlacedVector[]): Promise<void>;
  remove(ids: Iterable<number>): Promise<void>;
  /** The best chunks, including all that tie with the last one. */
  rank(question: RankQuestion): Promise<RankedChunk[]>;
  close(): Promise<void>;
}

export interface ChunkRankerOptions {
  /** The weight of the vector scores relative to the term scores. */
  readonly vectorWeight?: number;
  readonly fusion?: Fusion;
  readonly vectors?: VectorStore;
  /** Looks up a term in all sealed blocks. */
  readonly sealed?: (term: string) => Iterable<BlockPostings>;
}

/** How term and vector scores are combined: by standardised scores, or by reciprocal ranks. */
export type Fusion = "z_score" | "rrf";

/** Tuned on the dev split of `npm run eval`; reciprocal rank fusion loses most of the gain. */
export const VECTOR_WEIGHT = 6;

export function createChunkRanker(options: ChunkRankerOptions = {}): ChunkRanker {
  const { vectorWeight = VECTOR_WEIGHT, fusion = "z_score", sealed = () => [] } = options;
  const add = (a: Float64Array, b: Float64Array) =>
    fusion === "rrf"
      ? addReciprocalRanks(a, b)
      : addStandardised(a, b, vectorWeight, sealedSize + facts.length - dead.size);
  const postings = createPostings();
  const vectors = options.vectors ?? createEmbeddedStore();
  // Chunk ids grow with every edit; slots are dense, so that score arrays stay small.
  const facts: ChunkFacts[] = [];
  const blocks: { readonly block: RankedBlock; readonly base: number }[] = [];
  const starts = new Map<number, number>();
  const slots = new Map<number, number>();
  const dead = new Set<number>();
  let sealedSize = 0;

  const slotOf = (id: number): number | undefined => {
    const open = slots.get(id);
    if (open !== undefined) return open;
    for (const { block, base } of blocks) {
      const at = placeIn(block.ids, id);
      if (at >= 0) return base + at;
    }
    return undefined;
  };
  const factsAt = (slot: number): ChunkFacts | undefined => {
    if (slot >= sealedSize) return facts[slot - sealedSize];
    const found = blocks.findLast(({ base }) => base <= slot);
    if (!found) return undefined;
    const { block, base } = found;
    const at = slot - base;
    const [id = 0, file = 0, traits = 0, copy = 0] = [
      ...[block.ids[at], block.files[at]],
      ...[block.traits[at], block.copies[at]],
    ];
    return { id, file, traits, copy };
  };

  /**
   * Removed chunks still count in the stored postings; subtract them, or the term would look more common than
   * it is.
   */
  const deadHolders = (term: string, lists: readonly BlockPostings[]): number => {
    if (dead.size === 0) return 0;
    let count = 0;
    for (const { block, entries } of lists) {
      const base = starts.get(block) ?? 0;
      for (let at = 0; at < entries.length; at += 2) if (dead.has(base + (entries[at] ?? 0))) count++;
    }
    postings.forEach(term, (slot) => {
      if (dead.has(slot)) count++;
    });
    return count;
  };

  const scoreWords = (terms: readonly AskedTerm[]): Float64Array => {
    const size = sealedSize + facts.length;
    const scores = new Float64Array(size);
    for (const { term, weight: times } of terms) {
      const lists = [...sealed(term)];
      const holders = lists.reduce((sum, { entries }) => sum + entries.length / 2, postings.count(term));
      const unit = (times * rarityOf(holders - deadHolders(term, lists), size - dead.size)) / FULL_WEIGHT;
      for (const { block, entries } of lists) {
        const base = starts.get(block) ?? 0;
        for (let at = 0; at < entries.length; at += 2) {
          const slot = base + (entries[at] ?? 0);
          scores[slot] = (scores[slot] ?? 0) + unit * (entries[at + 1] ?? 0);
        }
      }
      postings.forEach(term, (slot, weight) => {
        scores[slot] = (scores[slot] ?? 0) + unit * weight;
      });
    }
    for (const slot of dead) scores[slot] = 0;
    return scores;
  };
  const scoresBy: Record<RankStrategy, (question: RankQuestion) => Promise<Float64Array>> = {
    text: async ({ terms }) => scoreWords(terms),
    vector: async ({ vector }) => (vector ? vectors.scores(vector) : new Float64Array(0)),
  };

  /** Applies trait factors and filters; 0 for chunks outside the requested files. */
  const weigh = (scores: Float64Array, { files, traitFactors: keptShares }: RankQuestion) => {
    const weighOne = (slot: number, file: number, traits: number) => {
      scores[slot] = files && !files.has(file) ? 0 : (scores[slot] ?? 0) * (keptShares[traits] ?? 1);
    };
    for (const { block, base } of blocks)
      for (let at = 0; at < block.ids.length; at++)
        if ((scores[base + at] ?? 0) > 0) weighOne(base + at, block.files[at] ?? 0, block.traits[at] ?? 0);
    for (const [at, { file, traits }] of facts.entries()) weighOne(sealedSize + at, file, traits);
  };

  return {
    async addBlock(block, placed) {
      if (facts.length > 0) throw new Error("a block must be added before single chunks");
      const base = sealedSize;
      blocks.push({ block, base });
      starts.set(block.number, base);
      sealedSize += block.ids.length;
      if (placed) await vectors.putBlock(base, placed);
    },
    add(chunk, terms, weights) {
      if (slots.has(chunk.id)) return;
      const slot = sealedSize + facts.length;
      slots.set(chunk.id, slot);
      facts.push(chunk);
      for (const [at, term] of terms.entries()) postings.add(term, slot, weights[at] ?? 0);
    },
    async place(entries) {
      await vectors.put(
        entries.flatMap(({ id, vector }) => {
          const slot = slotOf(id);
          return slot === undefined ? [] : [{ id: slot, vector }];
        }),
      );
    },
    async remove(ids) {
      const gone: number[] = [];
      for (const id of ids) {
        const slot = slotOf(id);
        if (slot === undefined || dead.has(slot)) continue;
        dead.add(slot);
        gone.push(slot);
      }
      await vectors.remove(gone);
    },
    close: async () => vectors.close(),
    async rank(question) {
      const { strategies, limit } = question;
      const lists = await Promise.all(
        STRATEGIES.filter((strategy) => strategies.includes(strategy)).map(async (strategy) => ({
          strategy,
          scores: await scoresBy[strategy](question),
        })),
      );
      const [first, second] = lists;
      if (!first) return [];
      const weighed = second ? add(first.scores, second.scores) : first.scores.slice();
      weigh(weighed, question);
      const top = best(weighed, limit).flatMap(({ id: slot, score }) => {
        const chunk = factsAt(slot);
        return chunk ? [{ slot, score, chunk }] : [];
      });
      const ranked = lists.map(({ strategy, scores }) => {
        const has = top.filter(({ slot }) => (scores[slot] ?? 0) > 0).map(({ slot }) => slot);
        const ranks = ranksIn(scores, has);
        return { strategy, ranks: new Map(has.map((slot, at) => [slot, ranks[at] ?? 0])) };
      });
      return top.map(({ slot, score, chunk: { id, copy } }) => ({
        ...{ id, score, copy },
        why: ranked.flatMap(({ strategy, ranks }) => {
          const rank = ranks.get(slot);
          return rank === undefined ? [] : [{ strategy, rank }];
        }),
      }));
    },
  };
}

/** Binary search in an ascending list; negative when absent. */
function placeIn(ascending: Uint32Array, wanted: number): number {
  let [low, high] = [0, ascending.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = ascending[middle] ?? 0;
    if (found === wanted) return middle;
    if (found < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
