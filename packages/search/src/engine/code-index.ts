import { parseTerms } from "../lexical/field-terms.ts";
import { createTermCutter } from "../text/terms.ts";
import { decodeVector, unpackVector } from "../vector/packed.ts";
import type { PlacedVector } from "../vector/vector-store.ts";
import { loadWordTable, WORD_TABLE_ID, type WordTable } from "../vector/word-table.ts";
import type { RankStrategy } from "./chunk-ranker.ts";
import { createLiveRanker, type LiveRankerOptions } from "./live-ranker.ts";
import type { ParsedFile } from "./parse-file.ts";
import { normalScope } from "./scope.ts";
import {
  type ChunkPlace,
  type FileState,
  type IndexCounts,
  openIndexStore,
  type StoredChunk,
  type StoredSymbol,
  type StoredTerms,
} from "./store.ts";
import { createSymbolNames, type SymbolNames } from "./symbol-names.ts";
import { findByName, type SymbolOptions } from "./symbol-search.ts";

export interface RankedHit extends StoredChunk {
  readonly score: number;
  readonly why: readonly { readonly strategy: RankStrategy; readonly rank: number }[];
}

/** A file to be read, and the hash it had when it was read before. */
export interface PlannedFile {
  readonly path: string;
  readonly hash: string | undefined;
}

/** Everything that is known about the code, in the thread that it is asked in. */
export interface CodeIndex {
  /** Of the files that are there now, those that must be read (again). What is not there any more is forgotten. */
  plan(listed: readonly Omit<FileState, "hash">[]): Promise<PlannedFile[]>;
  /** The same for files that may have changed or gone. */
  planFor(paths: readonly string[]): PlannedFile[];
  put(files: readonly IndexedFile[]): Promise<void>;
  /** Files that were read and found to be as they were. */
  touch(files: readonly FileState[]): void;
  /** Files, or whole folders. */
  remove(paths: readonly string[]): Promise<void>;
  /** Gives back memory that removed chunks still take up. */
  tidy(): Promise<void>;
  rank(query: string, options: RankOptions): Promise<RankedHit[]>;
  /** The best names first: the same, the same but for case, beginnings, parts, letters in order. */
  symbols(name: string, options: SymbolOptions): Promise<StoredSymbol[]>;
  outline(path: string): StoredSymbol[];
  counts(): IndexCounts;
  /** For vectors that come from elsewhere: chunks that have none yet, and where theirs are given. */
  unplaced(after: number, limit: number): ChunkPlace[];
  place(entries: readonly PlacedVector[]): Promise<void>;
  close(): Promise<void>;
}

export interface IndexedFile {
  readonly state: FileState;
  readonly parsed: ParsedFile;
}

export interface RankOptions {
  readonly strategies: readonly RankStrategy[];
  readonly limit: number;
  /** Only below this folder, or this file. */
  readonly scope?: string;
  /** Where the question lies, when vectors come from elsewhere. */
  readonly vector?: Float32Array;
}

export interface CodeIndexOptions extends LiveRankerOptions {
  /** The model that places chunks from outside; without one, the word table has placed them when they were parsed. */
  readonly embedder?: string;
}

const EMBEDDER = "embedder";

export function openCodeIndex(file: string, options: CodeIndexOptions = {}): CodeIndex {
  const store = openIndexStore(file);
  const { embedder = WORD_TABLE_ID } = options;
  forgetVectorsOfOthers();
  let table: WordTable | undefined;
  const live = createLiveRanker(store, options);
  const cutTerms = createTermCutter();
  let names: SymbolNames | undefined;
  let version = store.version();

  /** Another server of this workspace may have written. */
  const follow = async () => {
    const now = store.version();
    if (now === version) return;
    version = now;
    names = undefined;
    await live.refresh();
  };

  function forgetVectorsOfOthers(): void {
    const before = store.kept(EMBEDDER);
    if (before && Buffer.from(before).toString() === embedder) return;
    store.transaction(() => {
      store.clearVectors();
      store.keep(EMBEDDER, Buffer.from(embedder));
    });
  }

  const placeQuestion = (terms: readonly string[]) => {
    if (embedder !== WORD_TABLE_ID) return undefined;
    table ??= loadWordTable();
    return table.placeQuestion(terms);
  };
  const forget = (paths: Iterable<string>) =>
    live.removed(store.transaction(() => [...paths].flatMap((path) => store.remove(path))));

  return {
    async plan(listed) {
      await follow();
      const before = store.files();
      // An empty one is filled while files are read; another is loaded when somebody asks.
      if (before.size === 0) await live.get();
      const changed = listed.flatMap(({ path, size, mtimeMs }) => {
        const was = before.get(path);
        before.delete(path);
        return was?.size === size && was.mtimeMs === mtimeMs ? [] : [{ path, hash: was?.hash }];
      });
      await forget(before.keys());
      return changed;
    },
    planFor: (paths) => paths.map((path) => ({ path, hash: store.file(path)?.hash })),
    async put(files) {
      const gone: number[] = [];
      const written: StoredTerms[] = [];
      const placed: PlacedVector[] = [];
      store.transaction(() => {
        for (const { state, parsed } of files) {
          const { id: file, gone: before, added } = store.put(state, parsed);
          gone.push(...before);
          for (const { name } of parsed.symbols) names?.add(name);
          for (const [at, { terms, vector }] of parsed.chunks.entries()) {
            const id = added[at] ?? 0;
            if (live.isLoaded) written.push({ id, file, terms: parseTerms(terms) });
            if (vector && embedder === WORD_TABLE_ID)
              placed.push({ id, vector: unpackVector(decodeVector(vector)) });
          }
        }
        store.putVectors(placed);
      });
      await live.removed(gone);
      await live.added(written);
      await live.placed(placed);
    },
    touch(files) {
      store.transaction(() => {
        for (const file of files) store.touch(file);
      });
    },
    remove: forget,
    tidy: live.tidy,
    async rank(query, { strategies, limit, scope = "", vector }) {
      await follow();
      const ranker = await live.get();
      const terms = cutTerms(query);
      const ranked = await ranker.rank({
        terms,
        vector: vector ?? placeQuestion(terms),
        strategies,
        limit,
        files: normalScope(scope) === "" ? undefined : store.fileIdsIn(normalScope(scope)),
      });
      return ranked.flatMap(({ id, score, why }) => {
        const chunk = store.chunk(id);
        return chunk ? [{ ...chunk, score, why }] : [];
      });
    },
    async symbols(name, symbolOptions) {
      await follow();
      const allNames = () => {
        if (names) return names;
        names = createSymbolNames();
        for (const each of store.names()) names.add(each);
        return names;
      };
      return findByName(store, allNames, name, symbolOptions);
    },
    outline: (path) => store.symbolsOf(path),
    counts: store.counts,
    unplaced: store.chunksWithoutVector,
    async place(entries) {
      store.transaction(() => store.putVectors(entries));
      await live.placed(entries);
    },
    async close() {
      await live.close();
      store[Symbol.dispose]();
    },
  };
}
