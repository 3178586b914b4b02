import { closeSync, writeSync } from "node:fs";
import { orderOutput } from "./output-ref.ts";
import type { EndRecord, Hello, StartRecord, StreamName } from "./protocol.ts";
import { recordPath, spoolPath, toLine } from "./records.ts";
import type { Spares } from "./spares.ts";
import { createSpool, type SpoolWriter } from "./spool.ts";

/** What is kept of a process on disk: its output and its record. */
export interface KeptOutput {
  write(stream: StreamName, bytes: Buffer): void;
  /** Bytes so far. */
  printed(): Readonly<Record<StreamName, number>>;
  /** Why output is missing, such as ENOSPC. */
  failure(): string | null;
  /** No more output will come. Resolves when all that is kept can be read in order. */
  close(): Promise<void>;
  /** Throws when the disk does not take it: a process that nobody could find again must not run. */
  recordStart(start: StartRecord): void;
  /** May be called again while output still comes. */
  recordEnd(end: EndRecord): void;
}

export function createKeptOutput(proc_id: string, { folder, caps }: Hello, spares: Spares): KeptOutput {
  const spools = new Map<StreamName, SpoolWriter>();
  let record: number | undefined;

  return {
    write(stream, bytes) {
      const spool =
        spools.get(stream) ?? createSpool(caps, () => spares.take(spoolPath(folder, proc_id, stream)));
      spools.set(stream, spool);
      spool.write(bytes);
    },
    printed: () => ({ stdout: spools.get("stdout")?.total ?? 0, stderr: spools.get("stderr")?.total ?? 0 }),
    failure: () => [...spools.values()].find(({ failure }) => failure !== null)?.failure ?? null,
    async close() {
      for (const [stream, spool] of spools) {
        spool.close();
        if (spool.total > caps.head + caps.tail) await orderOutput(spoolPath(folder, proc_id, stream), caps);
      }
    },
    recordStart(start) {
      record = spares.take(recordPath(folder, proc_id));
      writeSync(record, toLine(start));
    },
    recordEnd(end) {
      if (record === undefined) return;
      try {
        writeSync(record, toLine(end));
      } catch {
        // The disk is full. The server gets to know the end all the same; after a restart it counts as killed.
      }
      if (end.output_open) return;
      closeSync(record);
      record = undefined;
    },
  };
}
