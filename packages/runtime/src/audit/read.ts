import { watch } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { AuditRecord } from "./record.ts";
import { chainFile, isBroken, listChains, openTables } from "./tables.ts";

/** A record and its location. */
export type ChainRecord = AuditRecord & { readonly chain: string };

interface ReadOptions {
  /** Receives each file that is damaged, and so read in part at most. */
  readonly onDamage?: (file: string) => void;
}

/**
 * The newest records of all chains in the order in which they were written, which is that of their numbers. Begin records
 * of answered calls are omitted.
 */
export function readAudit(
  folder: string,
  { limit = Number.POSITIVE_INFINITY, onDamage }: ReadOptions & { readonly limit?: number } = {},
): ChainRecord[] {
  using reader = createReader(folder, onDamage);
  return reader.newest(limit);
}

/** The last records, then each new one once, until the signal ends it. */
export async function* followAudit(
  folder: string,
  signal: AbortSignal,
  { last = 0, onDamage }: ReadOptions & { readonly last?: number } = {},
): AsyncGenerator<ChainRecord> {
  const changes = createChanges(folder, signal);
  using reader = createReader(folder, onDamage);
  try {
    yield* reader.newest(last);
    while (!signal.aborted) {
      yield* reader.newer();
      await changes.next();
    }
  } finally {
    changes.close();
  }
}

/** Its files stay open: to open and close one changes the folder that a follower watches. */
function createReader(folder: string, onDamage: (file: string) => void = () => {}) {
  const opened = new Map<string, DatabaseSync>();
  /** The number of the last record that was read of each chain. */
  const ends = new Map<string, number>();

  function* read(chain: string, order: "ASC" | "DESC"): Generator<ChainRecord> {
    try {
      const db = opened.get(chain) ?? openTables(folder, chain);
      opened.set(chain, db);
      const after = db.prepare(`SELECT seq, record FROM records WHERE seq > ? ORDER BY seq ${order}`);
      for (const { seq, record } of after.iterate(ends.get(chain) ?? 0)) {
        ends.set(chain, Math.max(Number(seq), ends.get(chain) ?? 0));
        const parsed = parseRecord(String(record), chain);
        if (parsed) yield parsed;
      }
    } catch (cause) {
      if (!isBroken(cause)) throw cause;
      onDamage(chainFile(chain));
    }
  }

  return {
    newest(limit: number): ChainRecord[] {
      const answered = new Set<string>();
      const found: ChainRecord[] = [];
      for (const chain of listChains(folder).reverse()) {
        let left = limit;
        for (const record of read(chain, "DESC")) {
          if (left === 0) break;
          if (record.kind === "call" && record.began !== undefined) answered.add(record.began);
          if (record.kind === "begin" && answered.has(`${record.seq}@${chain}`)) continue;
          found.push(record);
          left -= 1;
        }
      }
      return found.reverse().slice(limit === 0 ? found.length : -limit);
    },
    newer: (): ChainRecord[] => listChains(folder).flatMap((chain) => [...read(chain, "ASC")]),
    [Symbol.dispose](): void {
      for (const db of opened.values()) db.close();
    },
  };
}

/** Undefined for a text that is not a record; verifyAudit reports why. */
function parseRecord(text: string, chain: string): ChainRecord | undefined {
  try {
    const record: unknown = JSON.parse(text);
    const isRecord =
      typeof record === "object" &&
      record !== null &&
      "kind" in record &&
      "seq" in record &&
      "time" in record;
    // Tampered records may have any shape; those we wrote are records.
    return isRecord ? { ...(record as AuditRecord), chain } : undefined;
  } catch {
    return undefined;
  }
}

/** Polling finds changes that the watcher missed or this file system does not report. */
const POLL_MS = 500;

/** `next` resolves when there may be something new since it was asked last. */
function createChanges(folder: string, signal: AbortSignal) {
  let arrived = Promise.withResolvers<void>();
  const notify = () => arrived.resolve();
  const watcher = watch(folder, notify);
  // Polling continues without it.
  watcher.on("error", () => watcher.close());
  const timer = setInterval(notify, POLL_MS);
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
