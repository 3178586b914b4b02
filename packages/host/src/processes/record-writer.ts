import { randomBytes } from "node:crypto";
import { appendFileSync, closeSync, linkSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { EndRecord, StartRecord } from "./protocol.ts";
import { recordPath, toEndLine, toStartLine } from "./records.ts";

/** Writes the records of one supervisor. Throws when the disk does not take them. */
export interface RecordWriter {
  /** With its end, when that is known already. */
  add(start: StartRecord, end?: EndRecord): void;
  /** May come again while output still comes. */
  addEnd(proc_id: string, end: EndRecord): void;
  close(): void;
}

/** Enough that making a file weighs nothing, and few enough that reading one takes no time. */
const RECORDS_PER_FILE = 64;
const MODE = 0o600;

/**
 * Making a file takes up to a millisecond on some disks, most of all where others were just deleted; a further name for
 * one takes next to nothing. So many records share a file, which goes with the last of its names.
 */
export function createRecordWriter(folder: string, scratch: string): RecordWriter {
  let shared: { readonly path: string; readonly fd: number } | undefined;
  let room = 0;

  const close = () => {
    if (shared) closeSync(shared.fd);
    shared = undefined;
  };
  const open = () => {
    if (shared && room > 0) return shared;
    close();
    const path = join(scratch, randomBytes(8).toString("hex"));
    shared = { path, fd: openSync(path, "ax", MODE) };
    room = RECORDS_PER_FILE;
    return shared;
  };

  return {
    add(start, end) {
      const { proc_id } = start;
      const lines = toStartLine(start) + (end ? toEndLine(proc_id, end) : "");
      const { path, fd } = open();
      room -= 1;
      writeSync(fd, lines);
      try {
        linkSync(path, recordPath(folder, proc_id));
      } catch {
        // Files have one name only here.
        writeFileSync(recordPath(folder, proc_id), lines, { mode: MODE, flag: "wx" });
      }
    },
    addEnd: (proc_id, end) => appendFileSync(recordPath(folder, proc_id), toEndLine(proc_id, end)),
    close,
  };
}
