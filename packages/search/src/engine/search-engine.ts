import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createTopic, type Progress, type Topic } from "@octant/core";
import type { Embedder } from "../vector/embedder.ts";
import type { Fusion } from "./chunk-ranker.ts";
import type { PlannedFile, RankedHit, RankOptions } from "./code-index.ts";
import { createIndexThread } from "./index-thread.ts";
import { createSharedParsers } from "./shared-parsers.ts";
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
   * empty: nothing was indexed yet. stale: answers come from an earlier time. indexing: they come from what there is.
   * fresh: they are complete.
   */
  readonly state: "empty" | "stale" | "indexing" | "fresh";
  /** Files in the index. */
  readonly files: number;
  /** How many files there are to index; null before they were counted. */
  readonly total: number | null;
}

export interface EngineStatus extends IndexCounts, IndexProgress {
  /** The model that places texts; null for the word table that comes with this package. */
  readonly embedder: string | null;
}

/** Finds code in a workspace. Nothing is started before the first question, and all the work is done in other threads. */
export interface SearchEngine {
  /** Brings the index up to date, and keeps it so; a second call meanwhile waits for the first. */
  index(options: { signal: AbortSignal; progress?: (update: Progress) => void }): Promise<IndexReport>;
  /**
   * Puts these files into the index ahead of all others, for a question that cannot wait for the rest. When the
   * signal ends it, what was parsed until then is in the index.
   */
  indexFirst(paths: readonly string[], signal: AbortSignal): Promise<void>;
  /** Waits until every change that was told of is in the index. */
  settled(): Promise<void>;
  /** How far the index is. */
  progress(): Promise<IndexProgress>;
  status(): Promise<EngineStatus>;
  /** Loads what questions need, ahead of the first. */
  warm(): Promise<void>;
  rank(query: string, options: Omit<RankOptions, "vector"> & { signal?: AbortSignal }): Promise<RankedHit[]>;
  symbols(name: string, options: SymbolOptions): Promise<StoredSymbol[]>;
  outline(path: string): Promise<StoredSymbol[]>;
  /** Questions about the files as they are, whether they are indexed or not. */
  readonly syntax: SyntaxSearch;
  close(): Promise<void>;
}

export interface SearchEngineOptions {
  readonly files: SourceFiles;
  /** A private folder for the index. */
  readonly folder: string;
  /** Without one, the word table places texts. */
  readonly embedder?: Embedder;
  /** Where vectors are compared. LanceDB is for those who have it installed. */
  readonly vectorStore?: "embedded" | "lancedb";
  readonly fusion?: Fusion;
  readonly log: (line: string) => void;
}

/** More would be faster only while nobody else needs the machine. */
const MAX_PARSERS = 2;

const NONE_EARLY: ReadonlyMap<string, string> = new Map();

export function createSearchEngine(options: SearchEngineOptions): SearchEngine {
  const { files, folder, embedder, vectorStore = "embedded", fusion = "z_score", log } = options;
  const closed = new AbortController();
  const parsers = createSharedParsers(Math.min(MAX_PARSERS, availableParallelism()));
  let run: Run | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let isComplete = false;
  let total: number | null = null;
  const early = new Map<string, string>();
  let waiting = new Set<string>();
  let isAllWaiting = false;
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

  /** One after the other: two that write would only wait for each other. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work);
    turn = mine.catch(() => {});
    return mine;
  };
  const update = (planned: readonly PlannedFile[], signal: AbortSignal, tell: (done: number) => void) =>
    updateIndex({ files, index, parsers, embedder, planned, early, signal, tell });

  const indexAll = async (signal: AbortSignal, progress: (u: Progress) => void): Promise<IndexReport> => {
    // Before the list is made: what changes meanwhile is told of.
    stopWatching ??= files.onChange(onChange);
    const listed: ListedFile[] = [];
    for await (const file of files.list(signal)) listed.push(file);
    total = listed.length;
    let read = 0;
    for (let lives = -1; lives !== index.lives; ) {
      lives = index.lives;
      const planned = await ask("plan", listed);
      read = planned.length;
      await update(planned, signal, (done) =>
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
    const report = inTurn(async () => {
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

  /** Changes are put into the index in turn; those that come meanwhile go together into the next one. */
  const onChange = (paths: readonly string[] | "unknown") => {
    const isFirst = waiting.size === 0 && !isAllWaiting;
    if (paths === "unknown") isAllWaiting = true;
    else for (const path of paths) waiting.add(path);
    if (isFirst) void inTurn(catchUp).catch(reportOfFailure);
  };
  const catchUp = async () => {
    const [paths, all] = [[...waiting], isAllWaiting];
    waiting = new Set();
    isAllWaiting = false;
    if (closed.signal.aborted) return;
    if (all) await indexAll(closed.signal, () => {});
    else await update(await ask("planFor", paths), closed.signal, () => {});
  };
  const reportOfFailure = (cause: unknown) => {
    if (closed.signal.aborted) return;
    isComplete = false;
    log(`the search index could not follow a change: ${cause instanceof Error ? cause.message : cause}`);
  };

  const progressNow = async (): Promise<IndexProgress> => {
    const done = await ask("countFiles");
    const isBusy = run !== undefined || waiting.size > 0 || isAllWaiting;
    const rest = done === 0 ? "empty" : "stale";
    return { files: done, total, state: isBusy ? "indexing" : isComplete ? "fresh" : rest };
  };

  return {
    async index({ signal, progress = () => {} }) {
      signal.throwIfAborted();
      if (!run || run.stop.signal.aborted) run = startRun();
      return waitFor(run, signal, progress);
    },
    async indexFirst(paths, signal) {
      const planned = await ask("planFor", paths);
      const noted: SourceFiles = {
        ...files,
        async read(path) {
          const file = await files.read(path);
          if (file) early.set(path, file.state.hash);
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
        tell: () => {},
      };
      try {
        await readFiles({ ...options, files: noted });
      } catch (cause) {
        if (!stop.aborted) throw cause;
      }
    },
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
      await parsers.close();
      await index.close();
    },
  };
}

/** An indexing under way, and those who wait for it. */
interface Run {
  readonly report: Promise<IndexReport>;
  readonly updates: Topic<Progress>;
  readonly stop: AbortController;
}

/** Waits for the run; when the last one who waits gives up, it ends. */
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
