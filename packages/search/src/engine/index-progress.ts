import type { IndexCounts } from "./store.ts";

export interface IndexProgress {
  /**
   * empty: nothing is indexed yet. stale: results come from an earlier run. indexing: results come from the
   * files indexed so far. fresh: results are complete.
   */
  readonly state: "empty" | "stale" | "indexing" | "fresh";
  /** Files in the index. */
  readonly files: number;
  /** The number of files to index, among them some that are not text; null before they are counted. */
  readonly total: number | null;
}

export interface IndexedFirst {
  /** Whether the index had another state of any of the files, or none. */
  readonly hasChanged: boolean;
  /** The current hashes of those that can be read. */
  readonly hashes: ReadonlyMap<string, string>;
  /** Files that changed and could not be indexed in time. */
  readonly left: ReadonlySet<string>;
}

export interface EngineStatus extends IndexCounts, IndexProgress {
  /** The embedding model; null for the bundled word table. */
  readonly embedder: string | null;
}
