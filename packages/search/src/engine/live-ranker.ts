import type { PlacedVector, VectorStore } from "../vector/vector-store.ts";
import type { OpenChunk } from "./block-store.ts";
import { type ChunkRanker, type ChunkRankerOptions, createChunkRanker } from "./chunk-ranker.ts";
import { decodeChunk } from "./packed-chunk.ts";
import type { IndexStore } from "./store.ts";

/** A ranker that holds what the store holds; loaded when it is first needed. */
export interface LiveRanker {
  /** With everything that is in the store. */
  get(): Promise<ChunkRanker>;
  added(chunks: readonly OpenChunk[]): Promise<void>;
  removed(ids: readonly number[]): Promise<void>;
  placed(entries: readonly PlacedVector[]): Promise<void>;
  /** The store has changed in another way: what is held is loaded again. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface LiveRankerOptions extends Omit<ChunkRankerOptions, "vectors" | "sealed"> {
  /** An empty one, for each ranker its own; the embedded one when there is none. */
  readonly openVectors?: () => Promise<VectorStore>;
}

/** Vectors that are handed over at once. */
const BATCH = 1_000;

/** `isPlacedByTable`: chunks bring their vectors along; otherwise a model's are in the store. */
export function createLiveRanker(
  store: IndexStore,
  isPlacedByTable: boolean,
  options: LiveRankerOptions,
): LiveRanker {
  let ranker: Promise<ChunkRanker> | undefined;

  const load = async () => {
    const vectors = await options.openVectors?.();
    const loaded = createChunkRanker({ ...options, vectors, sealed: store.blocks.postings });
    for (const block of store.blocks.blocks()) {
      const { number, ids, files, traits, copies } = block;
      await loaded.addBlock({ number, ids, files, traits, copies }, isPlacedByTable ? block : undefined);
    }
    await addTo(loaded, store.blocks.open());
    await loaded.remove(store.blocks.removed());
    if (!isPlacedByTable) for (const page of inPages(store.vectors())) await loaded.place(page);
    return loaded;
  };
  const addTo = async (loaded: ChunkRanker, chunks: Iterable<OpenChunk>) => {
    const placed: PlacedVector[] = [];
    for (const chunk of chunks) {
      const { vector, weights } = decodeChunk(chunk.packed);
      loaded.add(chunk, chunk.terms.split(" "), weights);
      if (isPlacedByTable) placed.push({ id: chunk.id, vector });
    }
    await loaded.place(placed);
  };
  const close = async () => {
    const closing = await ranker;
    ranker = undefined;
    await closing?.close();
  };

  return {
    get() {
      ranker ??= load();
      return ranker;
    },
    async added(chunks) {
      if (ranker) await addTo(await ranker, chunks);
    },
    removed: async (ids) => (await ranker)?.remove(ids),
    placed: async (entries) => (await ranker)?.place(entries),
    reload: close,
    close,
  };
}

function* inPages<T>(items: Iterable<T>): Generator<T[]> {
  let page: T[] = [];
  for (const item of items) {
    page.push(item);
    if (page.length < BATCH) continue;
    yield page;
    page = [];
  }
  yield page;
}
