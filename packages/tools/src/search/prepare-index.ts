import { setTimeout as sleep } from "node:timers/promises";
import { type Hit, type Modality, routeOf } from "@octant/search";
import { findFirstFiles, type LikelyFile, MAX_FIRST_FILES } from "./first-files.ts";
import type { SearchOptions } from "./options.ts";

/** How long a first query waits for the index of a small project, or of a few changed files. */
const FIRST_WAIT_MS = 2_000;
/** While most files are not indexed, the rest of an answer is found by a text scan after this time. */
const PARTIAL_ANSWER_MS = 1_000;

/** Indexed before the answer even when there is no time left: a busy machine needs longer for a good answer. */
const LEAST_FIRST_FILES = 24;

/** Later lines are noise. */
const MAX_SCANNED = 100;

/** Modalities that search the files themselves. */
const READS_FILES: ReadonlySet<Modality> = new Set(["ast", "file"]);
/** Modalities that the lines of a text scan can answer. */
const TAKES_LINES: ReadonlySet<Modality> = new Set(["auto", "text"]);

interface Prepared {
  /** Aborts when files that changed can no longer be indexed for this answer. */
  readonly inTime: AbortSignal;
  /** Lines of likely files that are not indexed yet, best first. */
  readonly scanned: readonly Hit[];
}

/**
 * The first query starts indexing, which continues in the background. Until it is complete, ripgrep finds the most
 * likely files, and as many of them as there is time for are indexed before the query runs.
 */
export async function prepareIndex(
  { engine, workspace }: SearchOptions,
  asked: readonly [string, ...string[]],
  modality: Modality,
  signal: AbortSignal,
): Promise<Prepared> {
  engine.poll();
  const { state } = await engine.progress();
  if (state === "fresh") return { inTime: signal, scanned: [] };
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(PARTIAL_ANSWER_MS)]);
  if (state !== "indexing") {
    // While files are being listed, another thread loads the data that queries need.
    void engine.warm().catch(() => {});
    const isLong = Promise.withResolvers<void>();
    const progress = ({ total = 0 }) => void (total > MAX_FIRST_FILES && isLong.resolve());
    const indexing = engine.index({ signal: new AbortController().signal, progress }).catch(() => {});
    if (READS_FILES.has(modality)) return { inTime, scanned: [] };
    await Promise.race([indexing, isLong.promise, sleep(FIRST_WAIT_MS, undefined, { signal, ref: false })]);
    if ((await engine.progress()).state === "fresh") return { inTime: signal, scanned: [] };
  }
  if (READS_FILES.has(modality)) return { inTime, scanned: [] };
  const finding = findFirstFiles(workspace, asked, signal);
  const likely = await ("name" in routeOf(asked[0]) ? finding : engine.holding(finding));
  const first = likely.slice(0, MAX_FIRST_FILES).map(({ path }) => path);
  const { left } = await engine.indexFirst(first, inTime, LEAST_FIRST_FILES);
  signal.throwIfAborted();
  if (!TAKES_LINES.has(modality)) return { inTime, scanned: [] };
  const indexed = new Set(first).difference(left);
  return {
    inTime,
    scanned: likely
      .filter(({ path }) => !indexed.has(path))
      .slice(0, MAX_SCANNED)
      .flatMap(toScanned),
  };
}

const toScanned = ({ path, line }: LikelyFile, at: number): Hit[] => {
  if (line === null) return [];
  const range = { start: { line, col: 0 }, end: { line: line + 1, col: 0 } };
  const why = [{ strategy: "scan", rank: at + 1 }] as const;
  return [{ path, range, hash: null, symbol: null, kind: "lines", score: 0, why }];
};
