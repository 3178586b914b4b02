import { closeSync, fsyncSync, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { ToolError } from "@octant/core";
import type { StampedEvent } from "../events.ts";
import type { EventStore } from "../session.ts";
import { parseEvent } from "./event-shape.ts";

const CHUNK_BYTES = 1024 * 1024;
const LINE_FEED = 10;

/** Appends events to a file, one JSON object per line. `append` resolves when the event is on disk. */
export async function openLogFile(file: string): Promise<EventStore> {
  const handle = await open(file, "a+", 0o600);
  await cutTornLine(handle);
  syncFolder(dirname(file));
  return createLog(handle);
}

type LogHandle = Pick<FileHandle, "appendFile" | "truncate" | "datasync" | "close"> & {
  stat(): Promise<{ readonly size: number }>;
};

export async function createLog(handle: LogHandle): Promise<EventStore> {
  let { size } = await handle.stat();
  let isTorn = false;
  return {
    async append(event) {
      const line = Buffer.from(`${JSON.stringify(event)}\n`);
      // A failed write may have left a part, to which this event would be appended.
      if (isTorn) await handle.truncate(size);
      isTorn = true;
      await writeAll(handle, line);
      isTorn = false;
      size += line.length;
    },
    close: () => handle.close(),
  };
}

async function writeAll(handle: LogHandle, line: Buffer): Promise<void> {
  try {
    await handle.appendFile(line);
    await handle.datasync();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException; // The file system throws ErrnoException.
    if (code === "ENOSPC" || code === "EDQUOT")
      throw new ToolError(
        "NO_SPACE",
        "the session cannot be stored: the disk is full; free some space",
        {},
        { cause },
      );
    throw new ToolError("IO_ERROR", `the session cannot be stored: ${code}`, { errno: code }, { cause });
  }
}

/**
 * The events of a log, oldest first. A partial last line was never acknowledged, and is skipped. Any other gap is
 * damage from outside, or of another version: `onDamage` gets the number of its line, and may throw.
 */
export function* readLogFile(
  file: string,
  onDamage: (line: number) => void = () => {},
): Generator<StampedEvent> {
  let number = 0;
  let expected = 1;
  for (const line of readLines(file)) {
    number += 1;
    const event = parseEvent(line);
    if (event?.seq !== expected) onDamage(number);
    if (!event) continue;
    expected = event.seq + 1;
    yield event;
  }
}

/** Complete lines only. */
function* readLines(file: string): Generator<string> {
  const fd = openSync(file, "r");
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const decoder = new StringDecoder("utf8");
  let open = "";
  try {
    for (let length = readSync(fd, chunk); length > 0; length = readSync(fd, chunk)) {
      const lines = (open + decoder.write(chunk.subarray(0, length))).split("\n");
      open = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    closeSync(fd);
  }
}

/** Prevents the next event from being appended to a partial line. */
async function cutTornLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let end = size;
  for (let at = -1; end > 0 && at < 0; ) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const { bytesRead } = await handle.read(chunk, 0, end - start, start);
    at = chunk.subarray(0, bytesRead).lastIndexOf(LINE_FEED);
    end = start + at + 1;
  }
  if (end === size) return;
  await handle.truncate(end);
  await handle.sync();
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
