import { read, readSync } from "node:fs";
import { promisify } from "node:util";
import { SMALL_FILE_BYTES } from "./file-facts.ts";

/** Bytes that are read part by part, from memory or from a file. */
export interface ByteSource {
  readonly size: number;
  /** All of them, if they are in memory. */
  readonly whole?: Buffer;
  /** Fills the buffer from byte `at` and returns the count; a short read does not mean the end. */
  read(into: Buffer, at: number): number | Promise<number>;
}

export const memorySource = (bytes: Buffer): ByteSource => ({
  size: bytes.length,
  whole: bytes,
  read: (into, at) => bytes.copy(into, 0, at),
});

const readAsync = promisify(read);

/** Small files are read synchronously; a big one may be on a slow disk and must not block other calls. */
export const fileSource = (fd: number, size: number): ByteSource =>
  size <= SMALL_FILE_BYTES
    ? { size, read: (into, at) => readSync(fd, into, 0, into.length, at) }
    : {
        size,
        read: async (into, at) => (await readAsync(fd, into, 0, into.length, at)).bytesRead,
      };

/** Most lookups end early, so the first chunk is small. */
const FIRST_CHUNK_BYTES = 64 * 1024;
const CHUNK_BYTES = 512 * 1024;

/** The bytes from `start` on, chunk by chunk. A chunk is valid until the next one is requested. */
export async function* chunksFrom(
  source: ByteSource,
  start: number,
  signal?: AbortSignal,
): AsyncGenerator<{ readonly at: number; readonly bytes: Buffer }> {
  let buffer = Buffer.allocUnsafe(FIRST_CHUNK_BYTES);
  for (let at = start; at < source.size; ) {
    signal?.throwIfAborted();
    const length = await source.read(buffer, at);
    if (length === 0) return;
    yield { at, bytes: buffer.subarray(0, length) };
    at += length;
    if (buffer.length < CHUNK_BYTES && at < source.size) buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  }
}

/** The bytes from `start` up to `end`; fewer only where they end before. */
export async function readBytes(source: ByteSource, start: number, end: number): Promise<Buffer> {
  if (source.whole) return source.whole.subarray(start, Math.max(start, end));
  const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(end, source.size) - start));
  let length = 0;
  while (length < buffer.length) {
    const count = await source.read(buffer.subarray(length), start + length);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}
