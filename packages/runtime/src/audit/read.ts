import { statSync, watch } from "node:fs";
import { join } from "node:path";
import { readLines } from "./lines.ts";
import { listAuditFiles, recordsName, unlessGone } from "./names.ts";
import type { AuditRecord } from "./record.ts";

/** A record and its location. */
export type ChainRecord = AuditRecord & { readonly chain: string };

/** Where each chain was read to: the offset after its last whole line. */
type Ends = Map<string, number>;

/** The newest records of all chains, oldest first. Begin records of answered calls are omitted. */
export const readAudit = (
  folder: string,
  { limit = Number.POSITIVE_INFINITY }: { readonly limit?: number } = {},
): ChainRecord[] => readNewest(folder, new Map(), limit);

/** The last records, then each new one once, until the signal ends it. */
export async function* followAudit(
  folder: string,
  signal: AbortSignal,
  { last = 0 }: { readonly last?: number } = {},
): AsyncGenerator<ChainRecord> {
  const changes = createChanges(folder, signal);
  try {
    const ends: Ends = new Map();
    yield* readNewest(folder, ends, last);
    while (!signal.aborted) {
      yield* readNew(folder, ends);
      await changes.next();
    }
  } finally {
    changes.close();
  }
}

/** More than any record takes. */
const TAIL_BYTES = 256 * 1024;

function readNewest(folder: string, ends: Ends, limit: number): ChainRecord[] {
  let all: ChainRecord[] = [];
  for (const { chain, size, changed } of newestFirst(folder)) {
    // A record is older than the last change of its file.
    const isEnough = limit === 0 || (all.at(-limit)?.time ?? "") > changed;
    const { records, offset } = readRecords(folder, chain, isEnough ? Math.max(0, size - TAIL_BYTES) : 0);
    ends.set(chain, offset);
    if (!isEnough) all = withoutAnswered([...records, ...all]).sort(byTime);
  }
  return all.slice(Math.max(0, all.length - limit));
}

const newestFirst = (folder: string) =>
  listAuditFiles(folder)
    .chains.map((chain) => {
      const found = statSync(join(folder, recordsName(chain)), { throwIfNoEntry: false });
      return { chain, size: found?.size ?? 0, changed: found?.mtime.toISOString() ?? "" };
    })
    .sort((a, b) => (a.changed < b.changed ? 1 : -1));

/** Moves the ends to behind what it returns. */
function readNew(folder: string, ends: Ends): ChainRecord[] {
  const all = listAuditFiles(folder).chains.flatMap((chain) => {
    const { records, offset } = readRecords(folder, chain, ends.get(chain) ?? 0);
    ends.set(chain, offset);
    return records;
  });
  return all.sort(byTime);
}

/** The records from an offset on, and the offset after the last whole line. */
function readRecords(folder: string, chain: string, from: number) {
  const read = unlessGone(() => readLines(join(folder, recordsName(chain)), from));
  if (!read) return { records: [], offset: from };
  const records = read.lines.flatMap((line) => parseRecord(line, chain) ?? []);
  return { records, offset: read.size - read.rest.length };
}

const byTime = (a: ChainRecord, b: ChainRecord): number => (a.time < b.time ? -1 : Number(a.time > b.time));

function withoutAnswered(records: readonly ChainRecord[]): ChainRecord[] {
  const answered = new Set(records.map((record) => (record.kind === "call" ? record.began : undefined)));
  return records.filter(({ kind, seq, chain }) => kind !== "begin" || !answered.has(`${seq}@${chain}`));
}

/** Undefined for a line that is not a valid record; verifyAudit reports why. */
function parseRecord(line: Buffer, chain: string): ChainRecord | undefined {
  try {
    const record: unknown = JSON.parse(line.toString("utf8"));
    const isRecord =
      typeof record === "object" &&
      record !== null &&
      "kind" in record &&
      "seq" in record &&
      "time" in record;
    // Tampered lines may have any shape; lines we wrote are records.
    return isRecord ? { ...(record as AuditRecord), chain } : undefined;
  } catch {
    return undefined;
  }
}

/** Polling finds changes that the watcher missed or this file system does not report. */
const LOOK_MS = 500;

/** `next` resolves when there may be something new since it was asked last. */
function createChanges(folder: string, signal: AbortSignal) {
  let arrived = Promise.withResolvers<void>();
  const notify = () => arrived.resolve();
  const watcher = watch(folder, notify);
  // Polling continues without it.
  watcher.on("error", () => watcher.close());
  const timer = setInterval(notify, LOOK_MS);
  signal.addEventListener("abort", notify);
  return {
    async next() {
      await arrived.promise;
      arrived = Promise.withResolvers();
      if (signal.aborted) notify();
    },
    close() {
      watcher.close();
      clearInterval(timer);
      signal.removeEventListener("abort", notify);
    },
  };
}
