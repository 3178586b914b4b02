import { closeSync, fstatSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { errnoOf } from "../errno.ts";

/** How much of a stream is stored: its head, and a ring with its tail. */
export interface SpoolCaps {
  readonly head: number;
  readonly tail: number;
}

const MEBIBYTE = 1024 * 1024;
export const SPOOL_CAPS: SpoolCaps = { head: 16 * MEBIBYTE, tail: 16 * MEBIBYTE };

const COUNTER_BYTES = 8;
/** Of a counter, as Buffer reads and writes numbers: enough for 281 terabytes. */
const COUNTER_DIGITS = 6;

export type SpoolWriter = ReturnType<typeof createSpool>;

/**
 * A spool holds the output of one stream. As long as everything fits it is the plain output and nothing else. Then
 * the part after the head becomes a ring, followed by two counters: the bytes that the writer has claimed, and those
 * it has written. So any process can read it at any time, even while it is being written. `open` creates the file with
 * the first byte: silent programs cost none.
 */
export function createSpool(caps: SpoolCaps, open: () => number) {
  const plainBytes = caps.head + caps.tail;
  const counters = Buffer.alloc(2 * COUNTER_BYTES);
  let fd: number | undefined;
  let total = 0;
  let failure: string | null = null;

  const append = (bytes: Uint8Array, file: number) => {
    const plain = bytes.subarray(0, Math.max(0, plainBytes - total));
    writeAll(file, plain, total);
    total += plain.length;
    const rest = bytes.subarray(plain.length);
    if (rest.length === 0) return;
    count(file, total + rest.length, total);
    const end = total + rest.length;
    for (let at = Math.max(total, end - caps.tail); at < end; ) {
      const place = ringPlace(at, caps);
      const part = rest.subarray(at - total, Math.min(at - total + plainBytes - place, rest.length));
      writeAll(file, part, place);
      at += part.length;
    }
    total = end;
    count(file, total, total);
  };
  const count = (file: number, claimed: number, written: number) => {
    counters.writeUIntLE(claimed, 0, COUNTER_DIGITS);
    counters.writeUIntLE(written, COUNTER_BYTES, COUNTER_DIGITS);
    writeAll(file, counters, plainBytes);
  };

  return {
    get total(): number {
      return total;
    },
    /** Why storing stopped, such as ENOSPC; bytes are still counted. */
    get failure(): string | null {
      return failure;
    },
    /** Never throws: a full disk must not stop the child from being drained. */
    write(bytes: Uint8Array): void {
      const before = total;
      if (failure === null) {
        try {
          fd ??= open();
          append(bytes, fd);
          return;
        } catch (cause) {
          failure = (cause as NodeJS.ErrnoException).code ?? String(cause); // fs throws nothing else.
        }
      }
      total = before + bytes.length;
    },
    close(): void {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}

/** A stretch of output, from `start` on. */
export interface SpoolPart {
  readonly start: number;
  readonly bytes: Buffer;
}

export type Spool = ReturnType<typeof openSpool>;

/** A spool as its readers see it: offsets count from the first byte that was ever written. */
export function openSpool(path: string, caps: SpoolCaps) {
  /** How many bytes were written so far. */
  const total = (): number => {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    return size <= caps.head + caps.tail ? size : withFile(path, 0, (fd) => totalsOf(fd, caps).written);
  };
  return {
    total,
    /** The bytes in the middle that are no longer stored. */
    gap: () => gapOf(total(), caps),
    /**
     * Up to `length` bytes from `offset`, or from the end of the gap when the offset is in it, as `start` shows. Fewer
     * before the gap and at the end.
     */
    read(offset: number, length: number): SpoolPart {
      const nothing = { start: offset, bytes: EMPTY };
      return length <= 0 ? nothing : withFile(path, nothing, (fd) => readPart(fd, caps, offset, length));
    },
  };
}

const EMPTY = Buffer.alloc(0);

function readPart(fd: number, caps: SpoolCaps, offset: number, length: number): SpoolPart {
  const { written } = totalsOf(fd, caps);
  const gap = gapOf(written, caps);
  const start = gap && offset >= gap.start && offset < gap.end ? gap.end : offset;
  const end = Math.min(start + length, gap && start < gap.start ? gap.start : written);
  if (end <= start) return { start, bytes: EMPTY };
  const bytes = Buffer.allocUnsafe(end - start);
  for (let at = start; at < end; ) {
    const place = ringPlace(at, caps);
    const stop = Math.min(end, at + caps.head + caps.tail - place);
    readAll(fd, bytes.subarray(at - start, stop - start), place);
    at = stop;
  }
  // The writer may have wrapped around meanwhile and overwritten the requested bytes.
  const lost = gapOf(totalsOf(fd, caps).claimed, caps);
  if (!lost || end <= lost.start || start >= lost.end) return { start, bytes };
  if (start < lost.start) return { start, bytes: bytes.subarray(0, lost.start - start) };
  if (end <= lost.end) return readPart(fd, caps, lost.end, length);
  return { start: lost.end, bytes: bytes.subarray(lost.end - start) };
}

/** The position of a byte in the file. */
const ringPlace = (offset: number, { head, tail }: SpoolCaps): number =>
  offset < head ? offset : head + ((offset - head) % tail);

function gapOf(total: number, { head, tail }: SpoolCaps) {
  return total > head + tail ? { start: head, end: total - tail } : undefined;
}

function totalsOf(fd: number, { head, tail }: SpoolCaps): { claimed: number; written: number } {
  const { size } = fstatSync(fd);
  if (size <= head + tail) return { claimed: size, written: size };
  const counters = Buffer.alloc(2 * COUNTER_BYTES);
  readAll(fd, counters, head + tail);
  return {
    claimed: counters.readUIntLE(0, COUNTER_DIGITS),
    written: counters.readUIntLE(COUNTER_BYTES, COUNTER_DIGITS),
  };
}

function withFile<T>(path: string, whenMissing: T, use: (fd: number) => T): T {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return whenMissing;
    throw cause;
  }
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

function writeAll(fd: number, bytes: Uint8Array, place: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(fd, bytes, done, bytes.length - done, place + done);
}

/** Fills the buffer; a spool never shrinks, so the counted bytes exist. */
function readAll(fd: number, into: Buffer, place: number): void {
  for (let done = 0; done < into.length; ) {
    const count = readSync(fd, into, done, into.length - done, place + done);
    if (count === 0) throw new Error("a spool is shorter than its counters say");
    done += count;
  }
}
