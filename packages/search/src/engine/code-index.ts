import { createQuestionTerms } from "../lexical/question-terms.ts";
import { arrange } from "../ranking/arrange.ts";
import { createTermCutter } from "../text/terms.ts";
import { createEmbeddedStore } from "../vector/embedded-store.ts";
import { packVector, type VectorStore } from "../vector/vector-store.ts";
import { loadWordTable, WORD_TABLE_ID, type WordTable } from "../vector/word-table.ts";
import type { OpenChunk } from "./block-store.ts";
import { type ChunkRanker, createChunkRanker, type RankStrategy } from "./chunk-ranker.ts";
import { MAX_PROBED_CHUNKS, MAX_PROBES, type Probe, shareOf } from "./model-weight.ts";
import { decodeFile } from "./parse-file.ts";
import { normalScope } from "./scope.ts";
import { type FileState, openIndexStore, type StoredChunk, type StoredSymbol } from "./store.ts";
import { createSymbolNames, type SymbolNames } from "./symbol-names.ts";
import { findByName, type SymbolOptions, spellingsOf } from "./symbol-search.ts";
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

export interface RankOptions {
  readonly strategies: readonly RankStrategy[];
  readonly limit: number;
  /** The question in the caller's other words: likely names, synonyms. */
  readonly also?: readonly string[] | undefined;
  /** Restricts the search to this folder or file. */
  readonly scope?: string;
  /** The embedding of the question when an external model is used. */
  readonly vector?: Float32Array;
}

export interface CodeIndexOptions {
  /**
   * The external embedding model; without one, the parser already embedded the chunks with the word table.
   */
  readonly embedder: string | undefined;
  /** Opens an empty vector store for each ranker; the embedded store by default. */
  readonly openVectors?: (() => Promise<VectorStore>) | undefined;
}

/** Open chunks that trigger sealing while files are being read. */
const BLOCK_CHUNKS = 8_192;
/** Fewer chunks than this are fast enough unsealed. */
const MIN_BLOCK_CHUNKS = 1_024;

/** A hit that the question names is looked for among so many. */
const MIN_RANKED = 100;

/** The methods of the index, which run in its own thread. */
export type CodeIndex = ReturnType<typeof openCodeIndex>;

/** The store, and a ranker that mirrors it. */
export function openCodeIndex(file: string, options: CodeIndexOptions) {
  const { embedder = WORD_TABLE_ID, openVectors } = options;
  const isPlacedByTable = embedder === WORD_TABLE_ID;
  const store = openIndexStore(file);
  store.useModel(embedder);
  const cutTerms = createTermCutter();
  const askedTerms = createQuestionTerms(cutTerms);
  let table: WordTable | undefined;
  let names: SymbolNames | undefined;
  /** Loaded on first use. */
  let ranker: Promise<ChunkRanker> | undefined;
  let version = store.version();
  /** Whether files have left the index since it was tidied. */
  let hasForgotten = false;

  let turn: Promise<unknown> = Promise.resolve();
  /** Serialises calls, so that one call's writes are in the ranker before the next call writes or queries. */
  const serialised = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work);
    turn = mine.catch(() => {});
    return mine;
  };

  const load = async (): Promise<ChunkRanker> => {
    const { postings, blocks, open, removed } = store.blocks;
    const vectors = (await openVectors?.()) ?? createEmbeddedStore();
    // A model that was not measured yet has vectors for some chunks only.
    const vectorShare = isPlacedByTable ? 1 : (store.modelShare()?.share ?? 0);
    const loaded = createChunkRanker({ isPlacedByTable, vectorShare, vectors, sealed: postings });
    for (const block of blocks()) await loaded.addBlock(block);
    await loaded.add(open());
    await loaded.remove(removed());
    if (!isPlacedByTable) for (const page of store.vectors()) await loaded.place(page);
    return loaded;
  };
  const unload = async () => {
    const closing = await ranker;
    ranker = undefined;
    await closing?.close();
  };
  /** Another server of this workspace may have written to the index. */
  const follow = async () => {
    const now = store.version();
    if (now === version) return;
    version = now;
    names = undefined;
    await unload();
  };

  const placeQuestion = (terms: readonly string[]) => {
    if (!isPlacedByTable) return undefined;
    table ??= loadWordTable();
    return packVector(table.placeQuestion(terms));
  };
  const seal = async () => {
    store.transaction(store.blocks.seal);
    await unload();
  };
  const forget = async (paths: Iterable<string>): Promise<void> => {
    const gone = store.transaction(() => [...paths].flatMap((path) => store.remove(path)));
    hasForgotten ||= gone.length > 0;
    await (await ranker)?.remove(gone);
  };

  return {
    /** Returns the listed files that must be read (again), and removes files that are no longer listed. */
    plan: (listed: readonly Omit<FileState, "hash">[]): Promise<PlannedFile[]> =>
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
    /** The same for paths that may have changed or disappeared. */
    planFor: (paths: readonly string[]): PlannedFile[] =>
      paths.map((path) => ({ path, hash: store.hashOf(path) })),
    /** Adds or replaces files, each as written by `encodeFile`. */
    put: (files: readonly Uint8Array[]) =>
      serialised(async () => {
        const gone: number[] = [];
        const written: OpenChunk[] = [];
        const isFull = store.transaction(() => {
          for (const { state, parsed } of files.map(decodeFile)) {
            const { gone: before, added } = store.put(state, parsed);
            gone.push(...before);
            written.push(...added);
            for (const { name } of parsed.symbols) names?.add(name);
          }
          return store.blocks.countOpen() >= BLOCK_CHUNKS;
        });
        if (isFull) return seal();
        const loaded = await ranker;
        await loaded?.remove(gone);
        await loaded?.add(written);
      }),
    /** Records files that were read and had not changed. */
    touch: (files: readonly FileState[]) => store.transaction(() => files.forEach(store.touch)),
    /** Files or whole folders. */
    remove: (paths: readonly string[]) => serialised(() => forget(paths)),
    /** Seals open chunks for faster queries and drops removed ones. */
    tidy: () =>
      serialised(async () => {
        await follow();
        const hasUnsealed = store.transaction(store.blocks.unseal);
        if (hasForgotten) {
          store.transaction(store.blocks.dropLoneTerms);
          store.truncateLog();
          hasForgotten = false;
          // A vector store on disk keeps removed vectors until it is closed.
          if (openVectors) await unload();
        }
        if (hasUnsealed || store.blocks.countOpen() >= MIN_BLOCK_CHUNKS) await seal();
      }),
    /** Drops the loaded ranker, which still counts chunks that were written twice as removed ones. */
    reload: () => serialised(unload),
    /** Loads the data that queries need before the first query arrives. */
    warm: () =>
      serialised(async () => {
        ranker ??= load();
        await ranker;
        placeQuestion([]);
      }),
    rank: (
      query: string,
      { strategies, limit, also = [], scope = "", vector }: RankOptions,
    ): Promise<RankedHit[]> =>
      serialised(async () => {
        await follow();
        ranker ??= load();
        const within = normalScope(scope);
        const ranked = await (await ranker).rank({
          terms: askedTerms(query),
          vector: vector ? packVector(vector) : placeQuestion(cutTerms(query)),
          ...(also.length > 0 && {
            also: { terms: askedTerms(also.join(" ")), named: store.chunksNamed(also.flatMap(spellingsOf)) },
          }),
          strategies,
          limit: Math.max(limit, MIN_RANKED),
          traitFactors: traitFactors(query),
          files: within === "" ? undefined : store.fileIdsIn(within),
        });
        const hits = ranked.flatMap(({ id, ...how }) => {
          const chunk = store.chunk(id);
          return chunk ? [{ ...chunk, ...how }] : [];
        });
        hits.sort(byScoreAndPlace);
        return (strategies.length > 1 ? arrange(hits, query, cutTerms) : hits).slice(0, limit);
      }),
    /** Best matches first: exact, exact except for case, prefix, substring, letters in order. */
    async symbols(name: string, symbolOptions: SymbolOptions): Promise<StoredSymbol[]> {
      await follow();
      const allNames = () => {
        names ??= createSymbolNames(store.names());
        return names;
      };
      return findByName(store, allNames, name, symbolOptions);
    },
    outline: store.symbolsOf,
    unparsed: store.unparsed,
    counts: store.counts,
    countFiles: store.countFiles,
    /** Chunks that have no vector of the external embedding model yet. */
    unplaced: store.chunksWithoutVector,
    place: (entries: readonly { readonly id: number; readonly vector: Float32Array }[]) =>
      serialised(async () => {
        const packed = entries.map(({ id, vector }) => ({ id, vector: packVector(vector) }));
        store.transaction(() => store.putVectors(packed));
        await (await ranker)?.place(packed);
      }),
    /** Questions to measure the model with; undefined unless its vectors have doubled since the last time. */
    probes(): Probe[] | undefined {
      const { vectors = 0 } = store.modelShare() ?? {};
      return store.countVectors() > 2 * vectors ? store.probes(MAX_PROBES) : undefined;
    },
    /** Measures the model by its vectors for the questions of probes; returns the share of the full weight. */
    weighModel: (asked: readonly (Probe & { readonly vector: Float32Array })[]): Promise<number> =>
      serialised(async () => {
        table ??= loadWordTable();
        const { placeQuestion: place } = table;
        const probes = asked.map(({ id, question, vector }) => ({
          id,
          byModel: packVector(vector),
          byTable: packVector(place(cutTerms(question))),
        }));
        const placed = store.someVectors(
          asked.map(({ id }) => id),
          MAX_PROBED_CHUNKS,
        );
        const byTable = store.blocks.vectorsOf(new Set(placed.map(({ id }) => id)));
        const chunks = placed.flatMap(({ id, vector }) => {
          const own = byTable.get(id);
          return own ? [{ id, byModel: vector, byTable: own }] : [];
        });
        const share = shareOf(probes, chunks);
        store.transaction(() => store.setModelShare({ share, vectors: store.countVectors() }));
        await unload();
        return share;
      }),
    async close(): Promise<void> {
      await turn;
      await unload();
      store.close();
    },
  };
}

/** Ties are broken by location, so that two indexes of one tree return the same list. */
const byScoreAndPlace = (a: RankedHit, b: RankedHit): number =>
  b.score - a.score || compare(a.file, b.file) || a.firstLine - b.firstLine;

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
