import type { PlacedVector, VectorStore } from "../vector/vector-store.ts";
import type { OpenChunk } from "./block-store.ts";
import { type ChunkRanker, type ChunkRankerOptions, createChunkRanker } from "./chunk-ranker.ts";
import { decodeChunk } from "./packed-chunk.ts";
import type { IndexStore } from "./store.ts";

/** A ranker that mirrors the store; loaded on first use. */
export interface LiveRanker {
  /** The ranker, loaded with everything in the store. */
  get(): Promise<ChunkRanker>;
  added(chunks: readonly OpenChunk[]): Promise<void>;
  removed(ids: readonly number[]): Promise<void>;
  placed(entries: readonly PlacedVector[]): Promise<void>;
  /** Drops the loaded ranker and loads it again, after the store changed by other means. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface LiveRankerOptions extends Omit<ChunkRankerOptions, "vectors" | "sealed"> {
  /** Opens an empty vector store for each ranker; the embedded store by default. */
  readonly openVectors?: () => Promise<VectorStore>;
}

/** Vectors passed to the ranker at a time. */
const BATCH = 1_000;

/** `isPlacedByTable`: chunks carry their own vectors; otherwise the store holds vectors of a model. */
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
