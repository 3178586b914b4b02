import { type Progress, ToolError } from "@octant/core";
import type { Embedder } from "../vector/embedder.ts";
import { prepareLanceFolder, removeLanceFolder } from "../vector/lance-folder.ts";
import type { PlannedFile, RankedHit, RankOptions } from "./code-index.ts";
import type { EngineStatus, IndexedFirst, IndexProgress } from "./index-progress.ts";
import { type IndexOptions, type IndexReport, type IndexRun, startIndexRun } from "./index-run.ts";
import { createIndexThread } from "./index-thread.ts";
import type { ParserPool } from "./parser-pool.ts";
import type { SourceFiles } from "./source-files.ts";
import type { SymbolOptions } from "./symbol-search.ts";
import { createSyntaxSearch } from "./syntax-search.ts";
import { embedAll, type ReadOptions, readFiles } from "./update-index.ts";

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

/** Finds code in a workspace. Nothing starts before the first query, and all work runs in other threads. */
export class SearchEngine {
  /** Queries that read the current files, indexed or not. */
  readonly syntax: ReturnType<typeof createSyntaxSearch>;
  readonly #options: SearchEngineOptions;
  readonly #index: ReturnType<typeof createIndexThread>;
  readonly #closed = new AbortController();
  #run: IndexRun | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** Works that wait for their turn or have it. */
  #pending = 0;
  #isComplete = false;
  #total: number | null = null;
  #waiting = new Set<string>();
  #isAllWaiting = false;
  /** Whether chunks wait for a vector, because the model failed. */
  #hasUnembedded = false;
  #stopWatching: (() => void) | undefined;
  /** Pending reads of files that a question needs; background indexing waits for them. */
  #questions: Promise<unknown> = Promise.resolve();

  constructor(options: SearchEngineOptions) {
    const { files, folder, embedder, vectorStore = "embedded", parsers, log } = options;
    this.#options = options;
    this.syntax = createSyntaxSearch(files, parsers);
    this.#index = createIndexThread({
      folder,
      embedder: embedder?.id,
      log,
      lanceFolder: vectorStore === "lancedb" ? prepareLanceFolder(folder, log) : undefined,
      onNewLife: () => {
        this.#isComplete = false;
      },
    });
  }

  /** Brings the index up to date and keeps it so; concurrent calls share one run. */
  async index(options: IndexOptions): Promise<IndexReport> {
    options.signal.throwIfAborted();
    if (!this.#run || this.#run.isStopped) this.#run = this.#startRun();
    return this.#run.wait(options);
  }

  /** Lets the background wait while a query finds out which files it needs. */
  async holding<T>(work: Promise<T>): Promise<T> {
    this.#questions = Promise.allSettled([this.#questions, work]);
    return work;
  }

  /**
   * Indexes these files before all others, for a query that cannot wait for the rest. After the signal aborts, only
   * the first `least` of them are.
   */
  async indexFirst(paths: readonly string[], inTime: AbortSignal, least = 0): Promise<IndexedFirst> {
    const planned = await this.#index.call("planFor", paths);
    const hashes = new Map<string, string>();
    const left = new Set<string>();
    const needed = new Set(paths.slice(0, least));
    const changed = planned.filter(({ path, hash }) => {
      if (hash === undefined || !this.#options.files.isStill?.(path, hash)) return true;
      hashes.set(path, hash);
      return false;
    });
    const reading = readFiles(this.#parts, changed, {
      signal: this.#closed.signal,
      isWanted: (path) => !inTime.aborted || needed.has(path),
      onRead: ({ state: { path, hash } }) => void hashes.set(path, hash),
      onLeft: (path) => void left.add(path),
      touches: false,
    });
    return { hasChanged: (await this.holding(reading)) > 0, hashes, left };
  }

  /**
   * Asks again as long as files of the answer, which have a path, have changed since they were indexed, and the
   * signal allows it.
   */
  async current<T extends { readonly hash: string | null }>(
    query: () => Promise<readonly T[]>,
    pathOf: (found: T) => string | undefined,
    signal: AbortSignal,
  ): Promise<T[]> {
    for (let round = 1; ; round++) {
      const found = await query();
      const paths = new Set(found.map(pathOf).filter((path) => path !== undefined));
      const { hasChanged, hashes } = await this.indexFirst([...paths], signal);
      const right = found.filter((one) => one.hash === null || one.hash === hashes.get(pathOf(one) ?? ""));
      const isLast = round === MAX_ROUNDS || signal.aborted;
      if (isLast || (!hasChanged && right.length === found.length)) return right;
    }
  }

  /** Called before a query: where the system does not report changes, all files are checked again. */
  poll(): void {
    this.#options.files.poll?.();
  }

  /** Waits until every reported change is in the index. */
  async settled(): Promise<void> {
    while (this.#pending > 0) await this.#turn;
  }

  async progress(): Promise<IndexProgress> {
    const files = await this.#index.call("countFiles");
    const isIdle = this.#pending === 0;
    if (isIdle && this.#isComplete) return { files, total: files, state: "fresh" };
    return { files, total: this.#total, state: isIdle ? (files === 0 ? "empty" : "stale") : "indexing" };
  }

  async status(): Promise<EngineStatus> {
    const counts = await this.#index.call("counts");
    return { ...counts, ...(await this.progress()), embedder: this.#options.embedder?.id ?? null };
  }

  /** Loads the data that queries need before the first query arrives. */
  warm() {
    return this.#index.call("warm");
  }

  async rank(
    query: string,
    { signal = this.#closed.signal, onWithoutModel, ...how }: EngineRankOptions,
  ): Promise<RankedHit[]> {
    const { embedder } = this.#options;
    if (!embedder || !how.strategies.includes("vector")) return this.#index.call("rank", query, how);
    try {
      const [vector] = await embedder.embed([query], "question", signal);
      if (this.#hasUnembedded && this.#pending === 0) this.#embedLater();
      return await this.#index.call("rank", query, { ...how, vector });
    } catch (cause) {
      const strategies = how.strategies.filter((strategy) => strategy !== "vector");
      if (!isModelFault(cause) || strategies.length === 0) throw cause;
      onWithoutModel?.(cause.message);
      return this.#index.call("rank", query, { ...how, strategies });
    }
  }

  symbols(name: string, how: SymbolOptions) {
    return this.#index.call("symbols", name, how);
  }

  outline(path: string) {
    return this.#index.call("outline", path);
  }

  /** Indexed files that no parser can handle. */
  unparsed() {
    return this.#index.call("unparsed");
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error("the search engine was closed"));
    this.#stopWatching?.();
    await this.#turn;
    await this.#index.close();
    removeLanceFolder(this.#options.folder);
  }

  get #parts() {
    const { files, parsers } = this.#options;
    return { files, parsers, index: this.#index };
  }

  #startRun(): IndexRun {
    const started = startIndexRun((stop, progress) =>
      this.#serialised(async () => {
        const signal = AbortSignal.any([stop, this.#closed.signal]);
        signal.throwIfAborted();
        const done = await this.#indexAll(signal, progress);
        // Words alone can answer; a model that fails is reported to the callers of index.
        this.#isComplete = true;
        await this.#embed(signal);
        return done;
      }),
    );
    const forget = () => {
      if (this.#run === started) this.#run = undefined;
    };
    started.report.then(forget, forget);
    return started;
  }

  async #indexAll(signal: AbortSignal, progress: (update: Progress) => void): Promise<IndexReport> {
    const { files } = this.#options;
    const index = this.#index;
    // Subscribed before listing, so that no change is missed in between.
    this.#stopWatching ??= files.onChange((paths) => this.#onChange(paths));
    const listed = await Array.fromAsync(files.list(signal));
    this.#total = listed.length;
    let read = 0;
    for (let lives = -1; lives !== index.lives; ) {
      lives = index.lives;
      const planned = await index.call("plan", listed);
      const total = planned.length;
      const onDone = (done: number) =>
        progress({ progress: done, total, message: `indexing ${total} files` });
      onDone(0);
      // Files that are not text are checked each time, but have not changed.
      read = await this.#update(planned, { signal, onDone });
    }
    if (read > 0) await index.call("reload");
    const { chunks } = await index.call("counts");
    return { files: listed.length, read, chunks };
  }

  /** Returns how many of the files had changed. */
  async #update(planned: readonly PlannedFile[], how: ReadOptions): Promise<number> {
    const changed = await readFiles(this.#parts, planned, { ...how, turn: () => this.#questions });
    await this.#index.call("tidy");
    return changed;
  }

  async #embed(signal: AbortSignal): Promise<void> {
    const { embedder } = this.#options;
    if (!embedder) return;
    this.#hasUnembedded = true;
    if ((await embedAll(this.#parts, embedder, signal)) === 0)
      this.#options.log(`the model ${embedder.id} finds too little here: answers are by words alone`);
    this.#hasUnembedded = false;
  }

  /** For a model that failed and answers again, and for changed files. */
  #embedLater(): void {
    this.#serialised(() => this.#embed(this.#closed.signal)).catch((cause: unknown) => {
      if (!this.#closed.signal.aborted)
        this.#options.log(`chunks wait for their vectors: ${reasonOf(cause)}`);
    });
  }

  /** Changes are indexed in batches: those that arrive during one batch form the next. */
  #onChange(paths: readonly string[] | "unknown"): void {
    const isFirst = this.#waiting.size === 0 && !this.#isAllWaiting;
    if (paths === "unknown") this.#isAllWaiting = true;
    else for (const path of paths) this.#waiting.add(path);
    if (isFirst)
      this.#serialised(() => this.#catchUp()).catch((cause: unknown) => this.#reportFailure(cause));
  }

  async #catchUp(): Promise<void> {
    const [paths, all] = [[...this.#waiting], this.#isAllWaiting];
    this.#waiting = new Set();
    this.#isAllWaiting = false;
    const { signal } = this.#closed;
    if (signal.aborted) return;
    if (all) await this.#indexAll(signal, () => {});
    else await this.#update(await this.#index.call("planFor", paths), { signal });
    if (this.#options.embedder) this.#embedLater();
  }

  #reportFailure(cause: unknown): void {
    if (this.#closed.signal.aborted) return;
    this.#isComplete = false;
    this.#options.log(`the search index could not follow a change: ${reasonOf(cause)}`);
  }

  /** Two writers would only wait for each other. */
  #serialised<T>(work: () => Promise<T>): Promise<T> {
    this.#pending++;
    const mine = this.#turn.then(work).finally(() => this.#pending--);
    this.#turn = mine.catch(() => {});
    return mine;
  }
}

export interface EngineRankOptions extends Omit<RankOptions, "vector"> {
  readonly signal?: AbortSignal;
  /** Called with the reason when the embedding model fails and the answer is by words alone. */
  readonly onWithoutModel?: ((reason: string) => void) | undefined;
}

/** The model is down, refuses, or is not installed; other faults are not excused. */
const isModelFault = (cause: unknown): cause is ToolError =>
  cause instanceof ToolError && (cause.code === "UPSTREAM_ERROR" || cause.code === "UNSUPPORTED");

const reasonOf = (cause: unknown) => (cause instanceof Error ? cause.message : cause);
