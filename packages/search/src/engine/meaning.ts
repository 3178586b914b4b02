import { deserialize, serialize } from "node:v8";
import type { FieldTerms } from "../lexical/bm25f.ts";
import { createLatentSpace, type LatentSpace, type LatentSpaceData } from "../vector/latent-space.ts";
import type { IndexStore } from "./store.ts";

/** What the words of the workspace mean, learned from its own code and kept beside the index. */
export interface Meaning {
  /** Before, nothing lies anywhere. */
  readonly hasLearned: boolean;
  placeChunk(terms: FieldTerms): Float32Array | undefined;
  placeQuestion(terms: readonly string[]): Float32Array | undefined;
  /** What to learn from, a line for each text; undefined while what is known is good enough. */
  lessons(): string | undefined;
  adopt(learned: LatentSpaceData): void;
  /** Another server may have learned. */
  reload(): void;
}

/** Enough to learn from; more would take longer and tell nothing new. */
const MAX_LESSONS = 6_000;
/** A name says more about what a function means than any one word of its body. */
const NAME_TIMES = 3;
/** Words beyond these say nothing more about the meaning of a chunk. */
const MAX_TERMS = 400;
/** The share of chunks written since, from which on it is learned again. */
const STALE_SHARE = 0.5;
const KEPT_AS = "latent-space";

export function createMeaning(store: IndexStore): Meaning {
  let space: LatentSpace | undefined;
  let learnedAt = 0;
  const load = () => {
    const kept = store.kept(KEPT_AS);
    if (!kept) return;
    const { at, terms, rarity, axes } = deserialize(kept);
    space = createLatentSpace({ terms: terms.split(" "), rarity, axes });
    learnedAt = at;
  };
  load();

  const isStale = () => {
    const { chunks } = store.counts();
    return chunks > 0 && (!space || store.lastChunkId() - learnedAt > chunks * STALE_SHARE);
  };

  return {
    get hasLearned() {
      return space !== undefined;
    },
    placeChunk: (terms) => space?.place(meaningOf(terms)),
    placeQuestion: (terms) => space?.place(terms),
    lessons: () => (isStale() ? lessonsFrom(store) : undefined),
    adopt(learned) {
      space = createLatentSpace(learned);
      learnedAt = store.lastChunkId();
      store.keep(KEPT_AS, serialize({ ...learned, at: learnedAt, terms: learned.terms.join(" ") }));
    },
    reload: load,
  };
}

/** Every so many chunks one, so that all parts of the workspace are heard. */
function lessonsFrom(store: IndexStore): string {
  const step = Math.max(1, Math.ceil(store.counts().chunks / MAX_LESSONS));
  const lessons: string[] = [];
  let at = 0;
  for (const { terms } of store.terms()) if (at++ % step === 0) lessons.push(meaningOf(terms).join(" "));
  return lessons.join("\n");
}

export const parseLessons = (lessons: string): string[][] =>
  lessons.split("\n").map((line) => line.split(" "));

/** The words that say what a chunk is about. */
export const meaningOf = ({ name, container, signature, doc, body }: FieldTerms): readonly string[] =>
  [
    ...Array.from({ length: NAME_TIMES }, () => name).flat(),
    ...container,
    ...signature,
    ...doc,
    ...body,
  ].slice(0, MAX_TERMS);
