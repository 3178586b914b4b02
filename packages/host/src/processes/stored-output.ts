import { openSync } from "node:fs";
import { orderOutput } from "./output-ref.ts";
import type { EndRecord, Hello, StartRecord, StreamName } from "./protocol.ts";
import { addEnd, addRecord, spoolPath } from "./records.ts";
import { createSpool, type SpoolWriter } from "./spool.ts";

/** A process on disk: its output and its record. */
export interface StoredOutput {
  write(stream: StreamName, bytes: Buffer): void;
  /** Bytes so far. */
  printed(): Readonly<Record<StreamName, number>>;
  /** Why output is missing, such as ENOSPC. */
  failure(): string | null;
  /** Ends the output. Resolves when all stored output can be read in order. */
  close(): Promise<void>;
  /** Throws when the disk is full: a process without a record could not be found again. */
  recordStart(start: StartRecord): void;
  /** With its start, when that is not recorded yet. May be called again while output still comes. */
  recordEnd(start: StartRecord, end: EndRecord): void;
}

export function createStoredOutput(proc_id: string, { folder, caps }: Hello): StoredOutput {
  const spools = new Map<StreamName, SpoolWriter>();
  let isRecorded = false;
  const add = (start: StartRecord, end?: EndRecord) => {
    addRecord(folder, start, end);
    isRecorded = true;
  };
  const openFile = (stream: StreamName) => openSync(spoolPath(folder, proc_id, stream), "wx", MODE);

  return {
    write(stream, bytes) {
      const spool = spools.get(stream) ?? createSpool(caps, () => openFile(stream));
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
      if (!isRecorded) add(start);
    },
    recordEnd(start, end) {
      try {
        if (isRecorded) addEnd(folder, proc_id, end);
        else add(start, end);
      } catch {
        // The disk is full. The server still learns the exit; after a restart the process counts as killed.
      }
    },
  };
}

const MODE = 0o600;
