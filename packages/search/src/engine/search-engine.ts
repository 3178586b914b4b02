import { join } from "node:path";
import { createTopic, type Progress, type Topic } from "@octant/core";
import type { Embedder } from "../vector/embedder.ts";
import type { PlannedFile, RankedHit, RankOptions } from "./code-index.ts";
import { createIndexThread } from "./index-thread.ts";
import type { ParserPool } from "./parser-pool.ts";
import type { SourceFile, SourceFiles } from "./source-files.ts";
import type { IndexCounts } from "./store.ts";
import type { SymbolOptions } from "./symbol-search.ts";
import { createSyntaxSearch } from "./syntax-search.ts";
import { embedAll, type ReadOptions, readFiles } from "./update-index.ts";

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

export interface SearchEngineOptions {
  readonly files: SourceFiles;
  /** A private folder for the index. */
  readonly folder: string;
  /** Without one, the word table embeds texts. */
  readonly embedder?: Embedder;
  /** The vector store; LanceDB must be installed separately. */
  readonly vectorStore?: "embedded" | "lancedb";
  readonly parsers: ParserPool;
  readonly log: (line: string) => void;
}

/** More rounds would not help while a program rewrites the project. */
const MAX_ROUNDS = 3;

export type SearchEngine = ReturnType<typeof createSearchEngine>;

/** Finds code in a workspace. Nothing starts before the first query, and all work runs in other threads. */
export function createSearchEngine(options: SearchEngineOptions) {
  const { files, folder, embedder, vectorStore = "embedded", parsers, log } = options;
  const closed = new AbortController();
  let run: Run | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  /** Works that wait for their turn or have it. */
  let pending = 0;
  let isComplete = false;
  let total: number | null = null;
  let waiting = new Set<string>();
  let isAllWaiting = false;
  let stopWatching: (() => void) | undefined;
  /** Pending reads of files that a question needs; background indexing waits for them. */
  let questions: Promise<unknown> = Promise.resolve();

  const index = createIndexThread({
    folder,
    embedder: embedder?.id,
    log,
    lanceFolder: vectorStore === "lancedb" ? join(folder, `lance-${process.pid}`) : undefined,
    onNewLife() {
      isComplete = false;
    },
  });
  const ask = index.call;
  const parts = { files, index, parsers };

  /** Serialised: two writers would only wait for each other. */
  const serialised = <T>(work: () => Promise<T>): Promise<T> => {
    pending++;
    const mine = turn.then(work).finally(() => pending--);
    turn = mine.catch(() => {});
    return mine;
  };
  const update = async (planned: readonly PlannedFile[], how: ReadOptions) => {
    await readFiles(parts, planned, { ...how, turn: () => questions });
    if (embedder) await embedAll(parts, embedder, how.signal);
    await ask("tidy");
  };

  const indexAll = async (signal: AbortSignal, progress: (u: Progress) => void): Promise<IndexReport> => {
    // Subscribed before listing, so that no change is missed in between.
    stopWatching ??= files.onChange(onChange);
    const listed = await Array.fromAsync(files.list(signal));
    total = listed.length;
    let read = 0;
    for (let lives = -1; lives !== index.lives; ) {
      lives = index.lives;
      const planned = await ask("plan", listed);
      read = planned.length;
      const onDone = (done: number) =>
        progress({ progress: done, total: read, message: `indexing ${read} files` });
      await update(planned, { signal, onDone });
    }
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
    if (isFirst) void serialised(catchUp).catch(reportFailure);
  };
  const catchUp = async () => {
    const [paths, all] = [[...waiting], isAllWaiting];
    waiting = new Set();
    isAllWaiting = false;
    const { signal } = closed;
    if (signal.aborted) return;
    if (all) await indexAll(signal, () => {});
    else await update(await ask("planFor", paths), { signal });
  };
  const reportFailure = (cause: unknown) => {
    if (closed.signal.aborted) return;
    isComplete = false;
    log(`the search index could not follow a change: ${cause instanceof Error ? cause.message : cause}`);
  };

  /**
   * Indexes these files before all others, for a query that cannot wait for the rest. When the signal aborts, files
   * parsed so far stay in the index.
   */
  const indexFirst = async (paths: readonly string[], signal: AbortSignal): Promise<IndexedFirst> => {
    const planned = await ask("planFor", paths);
    const hashes = new Map<string, string>();
    const onRead = ({ state: { path, hash } }: SourceFile) => void hashes.set(path, hash);
    const stop = AbortSignal.any([signal, closed.signal]);
    const reading = readFiles(parts, planned, { signal: stop, onRead, touches: false });
    questions = Promise.allSettled([questions, reading]);
    try {
      return { hasChanged: (await reading) > 0, hashes };
    } catch (cause) {
      if (!stop.aborted) throw cause;
      return { hasChanged: true, hashes };
    }
  };

  const progressNow = async (): Promise<IndexProgress> => {
    const done = await ask("countFiles");
    if (pending === 0 && isComplete) return { files: done, total: done, state: "fresh" };
    return { files: done, total, state: pending > 0 ? "indexing" : done === 0 ? "empty" : "stale" };
  };

  return {
    /** Brings the index up to date and keeps it so; concurrent calls share one run. */
    async index({ signal, progress = () => {} }: IndexOptions): Promise<IndexReport> {
      signal.throwIfAborted();
      if (!run || run.stop.signal.aborted) run = startRun();
      return waitFor(run, signal, progress);
    },
    indexFirst,
    /** Asks again as long as files of the answer, which have a path, have changed since they were indexed. */
    async current<T extends { readonly hash: string | null }>(
      query: () => Promise<readonly T[]>,
      pathOf: (found: T) => string | undefined,
      signal: AbortSignal,
    ): Promise<T[]> {
      for (let round = 1; ; round++) {
        const found = await query();
        const paths = new Set(found.map(pathOf).filter((path) => path !== undefined));
        const { hasChanged, hashes } = await indexFirst([...paths], signal);
        signal.throwIfAborted();
        const right = found.filter((one) => one.hash === null || one.hash === hashes.get(pathOf(one) ?? ""));
        if (round === MAX_ROUNDS || (!hasChanged && right.length === found.length)) return right;
      }
    },
    /** Called before a query: where the system does not report changes, all files are checked again. */
    poll: () => files.poll?.(),
    /** Waits until every reported change is in the index. */
    async settled() {
      while (pending > 0) await turn;
    },
    progress: progressNow,
    async status(): Promise<EngineStatus> {
      const counts = await ask("counts");
      return { ...counts, ...(await progressNow()), embedder: embedder?.id ?? null };
    },
    /** Loads the data that queries need before the first query arrives. */
    warm: () => ask("warm"),
    async rank(
      query: string,
      { signal = closed.signal, ...how }: Omit<RankOptions, "vector"> & { signal?: AbortSignal },
    ): Promise<RankedHit[]> {
      const isByMeaning = embedder && how.strategies.includes("vector");
      const [vector] = isByMeaning ? await embedder.embed([query], "question", signal) : [];
      return ask("rank", query, { ...how, vector });
    },
    symbols: (name: string, how: SymbolOptions) => ask("symbols", name, how),
    outline: (path: string) => ask("outline", path),
    /** Indexed files that no parser can cope with. */
    unparsed: () => ask("unparsed"),
    /** Queries that read the current files, indexed or not. */
    syntax: createSyntaxSearch(files, parsers),
    async close() {
      closed.abort(new Error("the search engine was closed"));
      stopWatching?.();
      await turn;
      await index.close();
    },
  };
}

export interface IndexOptions {
  readonly signal: AbortSignal;
  readonly progress?: (update: Progress) => void;
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
