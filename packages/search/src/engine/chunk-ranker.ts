import type { AskedTerm } from "../lexical/question-terms.ts";
import { FULL_WEIGHT, rarityOf } from "../lexical/weigh-terms.ts";
import { best, type Scored } from "../ranking/best.ts";
import { addStandardised, ranksIn } from "../ranking/standardise.ts";
import type { PackedVector, PlacedVector, VectorStore } from "../vector/vector-store.ts";
import type { BlockPostings, OpenChunk, SealedBlock } from "./block-store.ts";
import { decodeChunk } from "./packed-chunk.ts";

/** In the order in which their scores are added. */
const STRATEGIES = ["text", "vector"] as const;
export type RankStrategy = (typeof STRATEGIES)[number];

export interface RankedChunk extends Scored {
  /** Its rank in each list that contains it, from 1. */
  readonly why: readonly { readonly strategy: RankStrategy; readonly rank: number }[];
}

export interface RankQuestion {
  readonly terms: readonly AskedTerm[];
  /** The embedding of the question; without it the vector strategy returns nothing. */
  readonly vector: PackedVector | undefined;
  /** The caller's other wordings: their terms, and the chunks that one of them names. */
  readonly also?: { readonly terms: readonly AskedTerm[]; readonly named: readonly number[] } | undefined;
  readonly strategies: readonly RankStrategy[];
  readonly limit: number;
  /** Restricts the results to these files. */
  readonly files?: ReadonlySet<number>;
  /** The factor applied to a chunk's score for each combination of traits. */
  readonly traitFactors: Float64Array;
}

export interface ChunkRankerOptions {
  readonly vectors: VectorStore;
  /** Whether chunks carry their own vectors; those of a model are placed separately. */
  readonly isPlacedByTable: boolean;
  /** The share of its full weight that the vector list gets beside the words, from 0 to 1. */
  readonly vectorShare?: number;
  /** Looks up a term in all sealed blocks. */
  readonly sealed: (term: string) => readonly BlockPostings[];
}

/** The weight of the vector scores relative to the term scores. Tuned on the dev split of `npm run eval`. */
export const VECTOR_WEIGHT = 6;
// Both were tuned on the dev split with `npm run eval -- --wordings`; more makes wrong wordings expensive.
/** The weight of the words of other wordings, relative to the sum of all other weights. */
const ALSO_SHARE = 0.2;
/** Multiplies the score of a chunk whose name is one of the wordings. */
const NAMED_FACTOR = 1.2;

export type ChunkRanker = ReturnType<typeof createChunkRanker>;

/** Ranks chunks for a question by their terms, by their vectors, or by both. */
export function createChunkRanker(options: ChunkRankerOptions) {
  const { vectors, isPlacedByTable, vectorShare = 1, sealed } = options;
  const weights: Readonly<Record<RankStrategy, number>> = { text: 1, vector: VECTOR_WEIGHT * vectorShare };
  // Chunk ids grow with every edit; slots are dense, so that score arrays stay small.
  const slots = new Map<number, number>();
  const ids: number[] = [];
  const fileOf: number[] = [];
  const traitsOf: number[] = [];
  /** The first slot of each block. */
  const starts = new Map<number, number>();
  /** The postings of open chunks: pairs of a slot and a weight. */
  const open = new Map<string, number[]>();
  const dead = new Set<number>();

  const addFacts = (id: number, file: number, traits: number): number => {
    const slot = ids.push(id) - 1;
    fileOf.push(file);
    traitsOf.push(traits);
    slots.set(id, slot);
    return slot;
  };
  /** Ignores unknown chunks. */
  const place = async (entries: readonly PlacedVector[]) => {
    const known = entries.filter(({ id }) => slots.has(id));
    await vectors.put(known.map(({ id, vector }) => ({ id: slots.get(id) ?? 0, vector })));
  };

  const scoreWords = (terms: readonly AskedTerm[]): Float64Array => {
    const scores = new Float64Array(ids.length);
    for (const { term, weight: times } of terms) {
      const lists = [
        ...sealed(term).map(({ block, entries }) => ({ start: starts.get(block) ?? 0, entries })),
        { start: 0, entries: open.get(term) ?? [] },
      ];
      let holders = 0;
      // Removed chunks are still in the postings; with them, the term would look more common than it is.
      for (const { start, entries } of lists)
        for (let at = 0; at < entries.length; at += 2) if (!dead.has(start + (entries[at] ?? 0))) holders++;
      const unit = (times * rarityOf(holders, ids.length - dead.size)) / FULL_WEIGHT;
      for (const { start, entries } of lists)
        for (let at = 0; at < entries.length; at += 2) {
          const slot = start + (entries[at] ?? 0);
          scores[slot] = (scores[slot] ?? 0) + unit * (entries[at + 1] ?? 0);
        }
    }
    for (const slot of dead) scores[slot] = 0;
    return scores;
  };
  const scoresBy: Record<RankStrategy, (question: RankQuestion) => Promise<Float64Array>> = {
    text: async ({ terms }) => scoreWords(terms),
    vector: async ({ vector }) => (vector ? vectors.scores(vector) : new Float64Array(0)),
  };
  /** Applies trait factors and filters; 0 for chunks outside the requested files. */
  const weigh = (scores: Float64Array, { files, traitFactors }: RankQuestion) => {
    for (let slot = 0; slot < scores.length; slot++) {
      const isOutside = files && !files.has(fileOf[slot] ?? 0);
      scores[slot] = isOutside ? 0 : (scores[slot] ?? 0) * (traitFactors[traitsOf[slot] ?? 0] ?? 1);
    }
  };

  return {
    place,
    /** Its postings stay on disk. */
    async addBlock(block: SealedBlock) {
      const start = ids.length;
      starts.set(block.number, start);
      for (const [at, id] of block.ids.entries()) addFacts(id, block.files[at] ?? 0, block.traits[at] ?? 0);
      if (isPlacedByTable) await vectors.putBlock(start, block);
    },
    /** Ignores chunks that were already added. */
    async add(chunks: readonly OpenChunk[]) {
      const added: PlacedVector[] = [];
      for (const { id, file, traits, terms, packed } of chunks) {
        if (slots.has(id)) continue;
        const slot = addFacts(id, file, traits);
        const { vector, weights } = decodeChunk(packed);
        for (const [at, term] of terms.split(" ").entries()) {
          const list = open.get(term) ?? [];
          list.push(slot, weights[at] ?? 0);
          open.set(term, list);
        }
        added.push({ id, vector });
      }
      if (isPlacedByTable) await place(added);
    },
    async remove(gone: readonly number[]) {
      const found = gone.map((id) => slots.get(id)).filter((slot) => slot !== undefined);
      for (const slot of found) dead.add(slot);
      await vectors.remove(found);
    },
    close: async () => vectors.close(),
    /** The best chunks, including all that tie with the last one. */
    async rank(question: RankQuestion): Promise<RankedChunk[]> {
      const { strategies, limit, also } = question;
      // A list without weight would still bring in chunks; alone, it is what the caller asked for.
      const asked = STRATEGIES.filter((strategy) => strategies.includes(strategy));
      const used = asked.length > 1 ? asked.filter((strategy) => weights[strategy] > 0) : asked;
      const lists = await Promise.all(
        used.map(async (strategy) => ({
          strategy,
          scores: await scoresBy[strategy](question),
        })),
      );
      const added = lists.map(({ strategy, scores }) => ({ scores, weight: weights[strategy] || 1 }));
      if (also) {
        const weight = ALSO_SHARE * added.reduce((sum, each) => sum + each.weight, 0);
        added.push({ scores: scoreWords(also.terms), weight });
      }
      const [only, ...others] = added;
      if (!only) return [];
      const weighed =
        others.length > 0 ? addStandardised(added, ids.length - dead.size) : only.scores.slice();
      for (const id of also?.named ?? []) {
        const slot = slots.get(id);
        if (slot !== undefined) weighed[slot] = NAMED_FACTOR * (weighed[slot] ?? 0);
      }
      weigh(weighed, question);
      const top = best(weighed, limit);
      const ranked = lists.map(({ strategy, scores }) => {
        const has = top.map(({ id: slot }) => slot).filter((slot) => (scores[slot] ?? 0) > 0);
        const ranks = ranksIn(scores, has);
        return { strategy, ranks: new Map(has.map((slot, at) => [slot, ranks[at] ?? 0])) };
      });
      return top.map(({ id: slot, score }) => ({
        id: ids[slot] ?? 0,
        score,
        why: ranked.flatMap(({ strategy, ranks }) => {
          const rank = ranks.get(slot);
          return rank === undefined ? [] : [{ strategy, rank }];
        }),
      }));
    },
  };
}
