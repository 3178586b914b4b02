import type { PlacedVector, VectorStore } from "../vector/vector-store.ts";
import { type ChunkRanker, type ChunkRankerOptions, createChunkRanker } from "./chunk-ranker.ts";
import type { IndexStore, StoredTerms } from "./store.ts";

/** A ranker that holds what the store holds; loaded when it is first needed, because that takes a second or two. */
export interface LiveRanker {
  /** With everything that is in the store. */
  get(): Promise<ChunkRanker>;
  readonly isLoaded: boolean;
  added(chunks: readonly StoredTerms[]): Promise<void>;
  removed(ids: readonly number[]): Promise<void>;
  placed(entries: readonly PlacedVector[]): Promise<void>;
  /** Another server has written. */
  refresh(): Promise<void>;
  /** Forgets what takes up room for nothing. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

export interface LiveRankerOptions extends Omit<ChunkRankerOptions, "vectors"> {
  /** An empty one, for each ranker its own; the embedded one when there is none. */
  readonly openVectors?: () => Promise<VectorStore>;
}

/** Vectors that are handed over at once. */
const BATCH = 1_000;

export function createLiveRanker(store: IndexStore, options: LiveRankerOptions): LiveRanker {
  let ranker: Promise<ChunkRanker> | undefined;

  const load = async () => {
    const loaded = createChunkRanker({ ...options, vectors: await options.openVectors?.() });
    await fill(loaded);
    return loaded;
  };
  const fill = async (loaded: ChunkRanker) => {
    for (const { id, file, terms } of store.terms()) if (!loaded.has(id)) loaded.add(id, file, terms);
    let batch: PlacedVector[] = [];
    for (const entry of store.vectors()) {
      batch.push(entry);
      if (batch.length < BATCH) continue;
      await loaded.place(batch);
      batch = [];
    }
    await loaded.place(batch);
  };

  return {
    get() {
      ranker ??= load();
      return ranker;
    },
    get isLoaded() {
      return ranker !== undefined;
    },
    async added(chunks) {
      if (!ranker) return;
      const loaded = await ranker;
      for (const { id, file, terms } of chunks) if (!loaded.has(id)) loaded.add(id, file, terms);
    },
    removed: async (ids) => (await ranker)?.remove(ids),
    placed: async (entries) => (await ranker)?.place(entries),
    async refresh() {
      if (!ranker) return;
      const loaded = await ranker;
      const there = new Set(store.chunkIds());
      await loaded.remove([...loaded.ids()].filter((id) => !there.has(id)));
      await fill(loaded);
    },
    async tidy() {
      const loaded = await ranker;
      if (!loaded || loaded.wasted <= loaded.size) return;
      ranker = undefined;
      await loaded.close();
    },
    close: async () => (await ranker)?.close(),
  };
}
