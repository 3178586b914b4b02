import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createTopic, type Progress, type Topic } from "@octant/core";
import type { Embedder } from "../vector/embedder.ts";
import type { Fusion } from "./chunk-ranker.ts";
import type { PlannedFile, RankedHit, RankOptions } from "./code-index.ts";
import { createIndexThread } from "./index-thread.ts";
import { createSharedParsers, type SharedParsers } from "./shared-parsers.ts";
import type { ListedFile, SourceFiles } from "./source-files.ts";
import type { IndexCounts, StoredSymbol } from "./store.ts";
import type { SymbolOptions } from "./symbol-search.ts";
import { createSyntaxSearch, type SyntaxSearch } from "./syntax-search.ts";
import { readFiles, updateIndex } from "./update-index.ts";

export interface IndexReport {
  readonly files: number;
  /** How many of them had changed. */
  readonly read: number;
  readonly chunks: number;
}

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
}

export interface EngineStatus extends IndexCounts, IndexProgress {
  /** The embedding model; null for the bundled word table. */
  readonly embedder: string | null;
}

/** Finds code in a workspace. Nothing starts before the first query, and all work runs in other threads. */
export interface SearchEngine {
  /** Brings the index up to date and keeps it so; concurrent calls share one run. */
  index(options: { signal: AbortSignal; progress?: (update: Progress) => void }): Promise<IndexReport>;
  /**
   * Indexes these files before all others, for a query that cannot wait for the rest. When the signal aborts,
   * files parsed so far stay in the index.
   */
  indexFirst(paths: readonly string[], signal: AbortSignal): Promise<IndexedFirst>;
  /** Called before a query: where the system does not report changes, all files are checked again. */
  poll(): void;
  /** Waits until every reported change is in the index. */
  settled(): Promise<void>;
  progress(): Promise<IndexProgress>;
  status(): Promise<EngineStatus>;
  /** Loads the data that queries need before the first query arrives. */
  warm(): Promise<void>;
  rank(query: string, options: Omit<RankOptions, "vector"> & { signal?: AbortSignal }): Promise<RankedHit[]>;
  symbols(name: string, options: SymbolOptions): Promise<StoredSymbol[]>;
  outline(path: string): Promise<StoredSymbol[]>;
  /** Queries that read the current files, indexed or not. */
  readonly syntax: SyntaxSearch;
  close(): Promise<void>;
}

export interface SearchEngineOptions {
  readonly files: SourceFiles;
  /** A private folder for the index. */
  readonly folder: string;
  /** Without one, the word table embeds texts. */
  readonly embedder?: Embedder;
  /** The vector store; LanceDB must be installed separately. */
  readonly vectorStore?: "embedded" | "lancedb";
  readonly fusion?: Fusion;
  /** The caller closes these; without them the engine has its own. */
  readonly parsers?: SharedParsers;
  readonly log: (line: string) => void;
}

/** More would take processor time that the user may need. */
const MAX_PARSERS = 2;

const NONE_EARLY: ReadonlyMap<string, string> = new Map();

export function createSearchEngine(options: SearchEngineOptions): SearchEngine {
  const { files, folder, embedder, vectorStore = "embedded", fusion = "z_score", log } = options;
  const closed = new AbortController();
  const parsers = options.parsers ?? createSharedParsers(Math.min(MAX_PARSERS, availableParallelism()));
  let run: Run | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let isComplete = false;
  let total: number | null = null;
  const early = new Map<string, string>();
  let waiting = new Set<string>();
  let isAllWaiting = false;
  let isCatchingUp = false;
  let stopWatching: (() => void) | undefined;

  const index = createIndexThread({
    ...{ folder, embedder: embedder?.id, fusion, log },
    lanceFolder: vectorStore === "lancedb" ? join(folder, `lance-${process.pid}`) : undefined,
    onNewLife() {
      isComplete = false;
      early.clear();
    },
  });
  const ask = index.call;

  /** Serialised: two writers would only wait for each other. */
  const serialised = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work);
    turn = mine.catch(() => {});
    return mine;
  };
  /** Pending reads of files that a question needs; background indexing waits for them. */
  let questions: Promise<unknown> = Promise.resolve();
  const update = (
    planned: readonly PlannedFile[],
    signal: AbortSignal,
    known: ReadonlyMap<string, string> = NONE_EARLY,
    onDone = (_done: number) => {},
  ) =>
    updateIndex({
      ...{ files, index, parsers, embedder, planned, early: known, signal, onDone },
      turn: () => questions,
    });

  const indexAll = async (signal: AbortSignal, progress: (u: Progress) => void): Promise<IndexReport> => {
    // Subscribed before listing, so that no change is missed in between.
    stopWatching ??= files.onChange(onChange);
    const listed: ListedFile[] = [];
    for await (const file of files.list(signal)) listed.push(file);
    total = listed.length;
    let read = 0;
    for (let lives = -1; lives !== index.lives; ) {
      lives = index.lives;
      early.clear();
      const planned = await ask("plan", listed);
      read = planned.length;
      await update(planned, signal, early, (done) =>
        progress({ progress: done, total: read, message: `indexing ${read} files` }),
      );
    }
    early.clear();
    if (read > 0) await ask("reload");
    const { chunks } = await ask("counts");
    return { files: listed.length, read, chunks };
  };

  const startRun = (): Run => {
    const stop = new AbortController();
    const updates = createTopic<Progress>({ maxEvents: 0 });
    const signal = AbortSignal.any([stop.signal, closed.signal]);
    const report = serialised(async () => {
      signal.throwIfAborted();
      const done = await indexAll(signal, updates.publish);
      isComplete = true;
      return done;
    });
    const started: Run = { report, updates, stop };
    const forget = () => {
      if (run === started) run = undefined;
    };
    report.then(forget, forget);
    return started;
  };

  /** Changes are indexed in batches: those that arrive during one batch form the next. */
  const onChange = (paths: readonly string[] | "unknown") => {
    const isFirst = waiting.size === 0 && !isAllWaiting;
    if (paths === "unknown") isAllWaiting = true;
    else for (const path of paths) waiting.add(path);
    if (isFirst) void serialised(catchUp).catch(reportOfFailure);
  };
  const catchUp = async () => {
    const [paths, all] = [[...waiting], isAllWaiting];
    waiting = new Set();
    isAllWaiting = false;
    if (closed.signal.aborted) return;
    isCatchingUp = true;
    try {
      if (all) await indexAll(closed.signal, () => {});
      else await update(await ask("planFor", paths), closed.signal);
    } finally {
      isCatchingUp = false;
    }
  };
  const reportOfFailure = (cause: unknown) => {
    if (closed.signal.aborted) return;
    isComplete = false;
    log(`the search index could not follow a change: ${cause instanceof Error ? cause.message : cause}`);
  };

  const progressNow = async (): Promise<IndexProgress> => {
    const done = await ask("countFiles");
    const isBusy = run !== undefined || waiting.size > 0 || isAllWaiting || isCatchingUp;
    if (!isBusy && isComplete) return { files: done, total: done, state: "fresh" };
    return { files: done, total, state: isBusy ? "indexing" : done === 0 ? "empty" : "stale" };
  };

  return {
    async index({ signal, progress = () => {} }) {
      signal.throwIfAborted();
      if (!run || run.stop.signal.aborted) run = startRun();
      return waitFor(run, signal, progress);
    },
    async indexFirst(paths, signal) {
      const planned = await ask("planFor", paths);
      const hashes = new Map<string, string>();
      const noted: SourceFiles = {
        ...files,
        async read(path) {
          const file = await files.read(path);
          if (file) {
            hashes.set(path, file.state.hash);
            early.set(path, file.state.hash);
          }
          return file;
        },
      };
      const stop = AbortSignal.any([signal, closed.signal]);
      const options = {
        index,
        parsers,
        planned,
        early: NONE_EARLY,
        signal: stop,
        onDone: () => {},
        touches: false,
      };
      const reading = readFiles({ ...options, files: noted });
      questions = Promise.allSettled([questions, reading]);
      try {
        return { hasChanged: (await reading) > 0, hashes };
      } catch (cause) {
        if (!stop.aborted) throw cause;
        return { hasChanged: true, hashes };
      }
    },
    poll: () => files.poll?.(),
    async settled() {
      let seen: unknown;
      while (seen !== turn) {
        seen = turn;
        await turn;
      }
    },
    progress: progressNow,
    async status() {
      const counts = await ask("counts");
      return { ...counts, ...(await progressNow()), embedder: embedder?.id ?? null };
    },
    warm: () => ask("warm"),
    async rank(query, { signal = closed.signal, ...options }) {
      const isByMeaning = embedder && options.strategies.includes("vector");
      const [vector] = isByMeaning ? await embedder.embed([query], "question", signal) : [];
      return ask("rank", query, { ...options, vector });
    },
    symbols: (name, options) => ask("symbols", name, options),
    outline: (path) => ask("outline", path),
    syntax: createSyntaxSearch(files, parsers),
    async close() {
      closed.abort(new Error("the search engine was closed"));
      stopWatching?.();
      await turn;
      if (!options.parsers) await parsers.close();
      await index.close();
    },
  };
}

/** A running indexing pass and its waiting callers. */
interface Run {
  readonly report: Promise<IndexReport>;
  readonly updates: Topic<Progress>;
  readonly stop: AbortController;
}

/** Waits for the run; it is cancelled when its last waiting caller gives up. */
async function waitFor(
  { report, updates, stop }: Run,
  signal: AbortSignal,
  progress: (update: Progress) => void,
): Promise<IndexReport> {
  const stopListening = updates.listen(({ value }) => progress(value));
  const leave = Promise.withResolvers<never>();
  const onAbort = () => {
    stopListening();
    if (updates.listenerCount === 0) stop.abort(signal.reason);
    leave.reject(signal.reason);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([report, leave.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    stopListening();
  }
}
