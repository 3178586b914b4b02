import { createQuestionTerms } from "../lexical/question-terms.ts";
import { createTermCutter } from "../text/terms.ts";
import { packVector } from "../vector/packed.ts";
import type { PlacedVector } from "../vector/vector-store.ts";
import { loadWordTable, WORD_TABLE_ID, type WordTable } from "../vector/word-table.ts";
import type { OpenChunk } from "./block-store.ts";
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
} from "./store.ts";
import { createSymbolNames, type SymbolNames } from "./symbol-names.ts";
import { findByName, type SymbolOptions } from "./symbol-search.ts";
import { traitFactors } from "./traits.ts";

export interface RankedHit extends StoredChunk {
  readonly score: number;
  readonly why: readonly { readonly strategy: RankStrategy; readonly rank: number }[];
}

/** A file to read, and its hash from the last read. */
export interface PlannedFile {
  readonly path: string;
  readonly hash: string | undefined;
}

/** The whole code index. Runs in the calling thread. */
export interface CodeIndex {
  /** Returns the listed files that must be read (again), and removes files that are no longer listed. */
  plan(listed: readonly Omit<FileState, "hash">[]): Promise<PlannedFile[]>;
  /** The same for paths that may have changed or disappeared. */
  planFor(paths: readonly string[]): PlannedFile[];
  put(files: readonly IndexedFile[]): Promise<void>;
  /** Records files that were read and had not changed. */
  touch(files: readonly FileState[]): void;
  /** Files or whole folders. */
  remove(paths: readonly string[]): Promise<void>;
  /** Seals open chunks for faster queries and drops removed ones. */
  tidy(): Promise<void>;
  /** Loads the data that queries need before the first query arrives. */
  warm(): Promise<void>;
  /**
   * Reloads the in-memory state, which otherwise still counts chunks that were written twice as removed ones.
   */
  reload(): Promise<void>;
  rank(query: string, options: RankOptions): Promise<RankedHit[]>;
  /** Best matches first: exact, exact except for case, prefix, substring, letters in order. */
  symbols(name: string, options: SymbolOptions): Promise<StoredSymbol[]>;
  outline(path: string): StoredSymbol[];
  counts(): IndexCounts;
  countFiles(): number;
  /** Used with an external embedding model: chunks that have no vector yet, and a way to supply theirs. */
  unplaced(after: number, limit: number): ChunkPlace[];
  place(entries: readonly { readonly id: number; readonly vector: Float32Array }[]): Promise<void>;
  close(): Promise<void>;
}

export interface IndexedFile {
  readonly state: FileState;
  readonly parsed: ParsedFile;
}

export interface RankOptions {
  readonly strategies: readonly RankStrategy[];
  readonly limit: number;
  /** Restricts the search to this folder or file. */
  readonly scope?: string;
  /** The embedding of the question when an external model is used. */
  readonly vector?: Float32Array;
}

export interface CodeIndexOptions extends LiveRankerOptions {
  /**
   * The external embedding model; without one, the parser already embedded the chunks with the word table.
   */
  readonly embedder?: string;
}

const EMBEDDER = "embedder";

export function openCodeIndex(file: string, options: CodeIndexOptions = {}): CodeIndex {
  const store = openIndexStore(file);
  const { embedder = WORD_TABLE_ID } = options;
  forgetVectorsOfOthers();
  let table: WordTable | undefined;
  const live = createLiveRanker(store, embedder === WORD_TABLE_ID, options);
  const cutTerms = createTermCutter();
  const askedTerms = createQuestionTerms(cutTerms);
  let names: SymbolNames | undefined;
  let version = store.version();

  let turn: Promise<unknown> = Promise.resolve();
  /** Serialises calls, so that one call's writes are in the ranker before the next call writes or queries. */
  const serialised = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work);
    turn = mine.catch(() => {});
    return mine;
  };

  /** Another server of this workspace may have written to the index. */
  const follow = async () => {
    const now = store.version();
    if (now === version) return;
    version = now;
    names = undefined;
    await live.reload();
  };

  function forgetVectorsOfOthers(): void {
    const before = store.value(EMBEDDER);
    if (before && Buffer.from(before).toString() === embedder) return;
    store.transaction(() => {
      store.clearVectors();
      store.setValue(EMBEDDER, Buffer.from(embedder));
    });
  }

  const placeQuestion = (terms: readonly string[]) => {
    if (embedder !== WORD_TABLE_ID) return undefined;
    table ??= loadWordTable();
    return packVector(table.placeQuestion(terms));
  };
  const seal = async () => {
    store.transaction(() => store.blocks.seal());
    await live.reload();
  };
  const forget = (paths: Iterable<string>) =>
    live.removed(store.transaction(() => [...paths].flatMap((path) => store.remove(path))));

  return {
    plan: (listed) =>
      serialised(async () => {
        await follow();
        const before = store.files();
        const changed = listed.flatMap(({ path, size, mtimeMs }) => {
          const was = before.get(path);
          before.delete(path);
          return was?.size === size && was.mtimeMs === mtimeMs ? [] : [{ path, hash: was?.hash }];
        });
        await forget(before.keys());
        return changed;
      }),
    planFor: (paths) => paths.map((path) => ({ path, hash: store.file(path)?.hash })),
    put: (files) =>
      serialised(async () => {
        const gone: number[] = [];
        const written: OpenChunk[] = [];
        const isFull = store.transaction(() => {
          for (const { state, parsed } of files) {
            const { gone: before, added } = store.put(state, parsed);
            gone.push(...before);
            written.push(...added);
            for (const { name } of parsed.symbols) names?.add(name);
          }
          return store.blocks.countOpen() >= BLOCK_CHUNKS;
        });
        if (isFull) return seal();
        await live.removed(gone);
        await live.added(written);
      }),
    touch(files) {
      store.transaction(() => {
        for (const file of files) store.touch(file);
      });
    },
    remove: (paths) => serialised(() => forget(paths)),
    tidy: () =>
      serialised(async () => {
        await follow();
        const hasUnsealed = store.transaction(() => store.blocks.unseal());
        if (hasUnsealed || store.blocks.countOpen() >= MIN_BLOCK_CHUNKS) await seal();
      }),
    reload: () => serialised(live.reload),
    warm: () =>
      serialised(async () => {
        await live.get();
        placeQuestion([]);
      }),
    rank: (query, { strategies, limit, scope = "", vector }) =>
      serialised(async () => {
        await follow();
        const ranker = await live.get();
        const ranked = await ranker.rank({
          terms: askedTerms(query),
          vector: vector ? packVector(vector) : placeQuestion(cutTerms(query)),
          ...{ strategies, limit, traitFactors: traitFactors(query) },
          files: normalScope(scope) === "" ? undefined : store.fileIdsIn(normalScope(scope)),
        });
        const hits = ranked.flatMap(({ id, ...how }) => {
          const chunk = store.chunk(id);
          return chunk ? [{ ...chunk, ...how }] : [];
        });
        return originalsFirst(hits.sort(byScoreAndPlace)).slice(0, limit);
      }),
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
    countFiles: store.countFiles,
    unplaced: store.chunksWithoutVector,
    place: (entries) =>
      serialised(async () => {
        const packed = entries.map(({ id, vector }): PlacedVector => ({ id, vector: packVector(vector) }));
        store.transaction(() => store.putVectors(packed));
        await live.placed(packed);
      }),
    async close() {
      await turn;
      await live.close();
      store[Symbol.dispose]();
    },
  };
}

/** Open chunks that trigger sealing while files are being read. */
const BLOCK_CHUNKS = 8_192;
/** Fewer chunks than this are fast enough unsealed. */
const MIN_BLOCK_CHUNKS = 1_024;

/** Ties are broken by location, so that two indexes of one tree return the same list. */
const byScoreAndPlace = (a: RankedHit, b: RankedHit): number =>
  b.score - a.score || compare(a.file, b.file) || a.firstLine - b.firstLine;

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The factor applied to the score of a duplicate of an earlier hit. */
const COPY_SHARE = 0.5;

/** Duplicates add no information: all but the first one score lower. */
function originalsFirst(hits: readonly (RankedHit & { readonly copy: number })[]): RankedHit[] {
  const seen = new Set<number>();
  return hits
    .map(({ copy, ...hit }) => {
      const isCopy = copy !== 0 && seen.has(copy);
      seen.add(copy);
      return isCopy ? { ...hit, score: hit.score * COPY_SHARE } : hit;
    })
    .sort((a, b) => b.score - a.score);
}
