import { closeSync, openSync, readdirSync, readSync, rmSync, statSync, writeSync } from "node:fs";
import { basename, dirname } from "node:path";
import { errnoOf } from "../errno.ts";

/** How much of a stream is stored: its head, and of the rest at least the tail. */
export interface SpoolCaps {
  readonly head: number;
  readonly tail: number;
}

const MEBIBYTE = 1024 * 1024;
export const SPOOL_CAPS: SpoolCaps = { head: 16 * MEBIBYTE, tail: 16 * MEBIBYTE };

/**
 * Writes the output of one stream: the head into a file, the rest into segments of `tail` bytes named by their offset,
 * of which the last two are retained. Files only grow, so any process can read them at any time. Each is created with
 * its first byte: silent programs cost none.
 */
export class SpoolWriter {
  /** Bytes printed so far, stored or not. */
  total = 0;
  /** Why storing stopped, such as ENOSPC; bytes are still counted. */
  failure: string | null = null;
  readonly #path: string;
  readonly #caps: SpoolCaps;
  readonly #segments: string[] = [];
  #fd: number | undefined;
  /** The remaining space in the open file. */
  #room = 0;

  constructor(path: string, caps: SpoolCaps) {
    this.#path = path;
    this.#caps = caps;
  }

  /** Never throws: a full disk must not stop the child from being drained. */
  write(bytes: Uint8Array): void {
    let rest = bytes;
    try {
      while (this.failure === null && rest.length > 0) {
        const fd = this.#fd === undefined || this.#room === 0 ? this.#openNext() : this.#fd;
        const count = writeSync(fd, rest, 0, Math.min(rest.length, this.#room));
        this.#room -= count;
        this.total += count;
        rest = rest.subarray(count);
      }
    } catch (cause) {
      this.failure = errnoOf(cause) ?? String(cause);
    }
    this.total += rest.length;
  }

  #openNext(): number {
    const isHead = this.total === 0;
    const path = isHead ? this.#path : segmentPath(this.#path, this.total);
    this.close();
    this.#fd = openSync(path, "wx", 0o600);
    this.#room = isHead ? this.#caps.head : this.#caps.tail;
    if (!isHead) this.#segments.push(path);
    if (this.#segments.length > 2) rmSync(this.#segments.shift() as string);
    return this.#fd;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** A stretch of output, from `start` on. */
export interface SpoolPart {
  readonly start: number;
  readonly bytes: Buffer;
}

export type Spool = ReturnType<typeof openSpool>;

/** A spool as its readers see it: offsets count from the first byte that was ever written. */
export const openSpool = (path: string, caps: SpoolCaps) => ({
  /** How many bytes were stored so far. */
  total: (): number => listSegments(path, caps).at(-1)?.end ?? 0,
  /** Whether all of it is in the first file. */
  isPlain: (): boolean => listSegments(path, caps).length <= 1,
  /**
   * Up to `length` bytes from `offset`, or from the end of the gap when the offset is in it, as `start` shows. Fewer
   * before the gap and at the end.
   */
  read(offset: number, length: number): SpoolPart {
    if (length <= 0) return { start: offset, bytes: EMPTY };
    for (;;) {
      try {
        return readPart(listSegments(path, caps), offset, length);
      } catch (cause) {
        // The writer has removed a segment since it was listed.
        if (errnoOf(cause) !== "ENOENT") throw cause;
      }
    }
  },
});

const EMPTY = Buffer.alloc(0);

interface Segment {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

const segmentPath = (path: string, start: number): string => `${path}.${start}`;

/** The head and the segments, in order; none when nothing was written. */
function listSegments(path: string, { head }: SpoolCaps): Segment[] {
  const toSegment = (file: string, start: number): Segment[] => {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    return size > 0 ? [{ path: file, start, end: start + size }] : [];
  };
  const first = toSegment(path, 0);
  if (first.length === 0 || first[0]!.end < head) return first;
  const prefix = `${basename(path)}.`;
  const starts = readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)));
  return [
    ...first,
    ...starts.sort((a, b) => a - b).flatMap((start) => toSegment(segmentPath(path, start), start)),
  ];
}

function readPart(segments: readonly Segment[], offset: number, length: number): SpoolPart {
  const [first, ...rest] = segments.filter(({ end }) => end > offset);
  if (!first) return { start: offset, bytes: EMPTY };
  const start = Math.max(offset, first.start);
  const end = Math.min(start + length, first.end);
  const bytes = readFrom(first.path, start - first.start, end - start);
  if (end === start + length || rest[0]?.start !== end) return { start, bytes };
  return { start, bytes: Buffer.concat([bytes, readPart(rest, end, start + length - end).bytes]) };
}

function readFrom(path: string, place: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  const fd = openSync(path, "r");
  try {
    for (let done = 0; done < length; ) {
      const count = readSync(fd, bytes, done, length - done, place + done);
      if (count === 0) throw new Error("a file of a spool has shrunk");
      done += count;
    }
    return bytes;
  } finally {
    closeSync(fd);
  }
}
