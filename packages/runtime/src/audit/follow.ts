import { watch } from "node:fs";
import { join } from "node:path";
import { linesOf } from "./lines.ts";
import { listAuditFiles, partName } from "./names.ts";
import { type ChainRecord, findEnds, parseRecord, readUntil } from "./read.ts";

/** Polling finds changes that the watcher missed or this file system does not report. */
const LOOK_MS = 500;

/** The last records, then each new one once, until the signal ends it. */
export async function* followAudit(
  folder: string,
  signal: AbortSignal,
  { last = 0 }: { readonly last?: number } = {},
): AsyncGenerator<ChainRecord> {
  const changes = createOutputDebounce(folder, signal);
  try {
    const ends = new Map(findEnds(folder));
    if (last > 0) yield* await readUntil(folder, ends, { limit: last });
    while (!signal.aborted) {
      yield* await readNew(folder, ends);
      await changes.next();
    }
  } finally {
    changes.close();
  }
}

/** Moves the ends to behind what it gives. */
async function readNew(folder: string, ends: Map<string, number>): Promise<ChainRecord[]> {
  const records: ChainRecord[] = [];
  for (const [chain, parts] of listAuditFiles(folder).parts) {
    for (const name of parts.map((part) => partName(chain, part))) {
      for await (const { bytes, complete, end } of linesOf(join(folder, name), ends.get(name) ?? 0)) {
        if (!complete) continue;
        ends.set(name, end);
        const record = parseRecord(bytes, chain);
        if (record) records.push(record);
      }
    }
  }
  return records.sort((a, b) => (a.time < b.time ? -1 : Number(a.time > b.time)));
}

/** Resolves when there may be something new since it was asked last. */
function createOutputDebounce(folder: string, signal: AbortSignal) {
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
