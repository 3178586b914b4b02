import { createHash } from "node:crypto";
import { type BigIntStats, fstatSync, read, readSync } from "node:fs";
import { promisify } from "node:util";
import { type Hash, ToolError } from "@octant/core";
import { hashOf } from "../hashes.ts";
import { bomOf, createLineCounter, isText, type TextFacts, utf16ToUtf8, wholeCharacters } from "./text.ts";

/** Facts known after every byte of a file was read. */
export interface FileFacts {
  readonly hash: Hash;
  /** Undefined when it is not text. */
  readonly text: TextFacts | undefined;
}

export interface ScanOptions {
  readonly signal?: AbortSignal | undefined;
  /** Receives the number of bytes read so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** Up to here a file is read at one go, without leaving the event loop. */
export const SMALL_FILE_BYTES = 2 * 1024 * 1024;
/** UTF-16 is decoded as a whole; above this size it counts as binary. */
export const MAX_UTF16_BYTES = 16 * 1024 * 1024;

const CHUNK_BYTES = 1024 * 1024;
const MAX_REMEMBERED = 256;
/** A file changed this recently can change again without its times showing it. */
const UNSETTLED_MS = 2_000;

const readAsync = promisify(read);

export type FactsCache = ReturnType<typeof createFactsCache>;

/** Cache of facts about open files, so that a big file read in parts is hashed once. */
export function createFactsCache(now: () => number = Date.now) {
  const remembered = new Map<string, FileFacts>();

  const remember = (seen: BigIntStats, facts: FileFacts) => {
    const isSettled = [seen.mtimeMs, seen.ctimeMs].every((ms) => now() - Number(ms) > UNSETTLED_MS);
    if (!isSettled) return;
    remembered.set(versionOf(seen), facts);
    if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value as string);
  };

  const ofBytes = (fd: number, bytes: Buffer): FileFacts => {
    // Checked after reading the bytes: a change meanwhile makes the file unsettled.
    const seen = statOf(fd);
    const known = remembered.get(versionOf(seen));
    if (known) return known;
    const facts = factsOf(bytes);
    if (BigInt(bytes.length) === seen.size) remember(seen, facts);
    return facts;
  };

  return {
    known: (fd: number): FileFacts | undefined => remembered.get(versionOf(statOf(fd))),
    /** For a file whose bytes were just read. */
    ofBytes,
    async of(fd: number, options: ScanOptions = {}): Promise<FileFacts> {
      const before = statOf(fd);
      const known = remembered.get(versionOf(before));
      if (known) return known;
      if (before.size <= SMALL_FILE_BYTES) return ofBytes(fd, readAll(fd));
      const facts = await scan(fd, options);
      if (versionOf(statOf(fd)) === versionOf(before)) remember(before, facts);
      return facts;
    },
  };
}

const statOf = (fd: number): BigIntStats => fstatSync(fd, { bigint: true });

/** Two equal versions of an open file hold the same bytes, unless it was changed within the clock's own step. */
export const versionOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;

/** Reads to the end regardless of the reported size: files in /proc report size 0. */
export function readAll(fd: number, expected = fstatSync(fd).size): Buffer {
  // One byte more than expected shows the end of the file without a second call.
  let buffer = Buffer.allocUnsafe(expected + 1);
  let length = 0;
  for (;;) {
    const count = readSync(fd, buffer, length, buffer.length - length, length);
    length += count;
    if (count === 0 || length === expected) return buffer.subarray(0, length);
    if (length > MAX_WHOLE_BYTES)
      throw new ToolError("TOO_LARGE", "the file has no end, so it cannot be read", {
        limit: MAX_WHOLE_BYTES,
      });
    if (length === buffer.length)
      buffer = Buffer.concat([buffer, Buffer.allocUnsafe(Math.max(length, MIN_GROWTH_BYTES))]);
  }
}

/** Limit for files of unknown size. */
const MAX_WHOLE_BYTES = 64 * 1024 * 1024;
const MIN_GROWTH_BYTES = 4096;

/** The facts of a file whose bytes are all here. */
export function factsOf(bytes: Buffer): FileFacts {
  return { hash: hashOf(bytes), text: textFactsOf(bytes) };
}

function textFactsOf(bytes: Buffer): TextFacts | undefined {
  const { encoding, length } = bomOf(bytes);
  const text = encoding === "utf-8" ? bytes.subarray(length) : utf16ToUtf8(bytes, encoding);
  if (text === undefined || !isText(text)) return undefined;
  const lines = createLineCounter();
  lines.push(text);
  return { encoding, bom: length > 0, ...lines.facts() };
}

/** The same for a file too big to hold: chunk by chunk, letting others run in between. */
async function scan(fd: number, { signal, onProgress }: ScanOptions): Promise<FileFacts> {
  const hash = createHash("sha256");
  const lines = createLineCounter();
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES + MAX_CARRY_BYTES);
  let bom: ReturnType<typeof bomOf> | undefined;
  let isTextSoFar = true;
  let carried = 0;
  for (let position = 0; ; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await readAsync(fd, buffer, carried, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    const part = buffer.subarray(0, carried + bytesRead);
    hash.update(part.subarray(carried));
    position += bytesRead;
    onProgress?.(position);
    bom ??= bomOf(part);
    if (bom.encoding !== "utf-8") isTextSoFar = false;
    if (!isTextSoFar) {
      carried = 0;
      continue;
    }
    const whole = wholeCharacters(part);
    const text = part.subarray(position === bytesRead ? bom.length : 0, whole);
    isTextSoFar = isText(text);
    lines.push(text);
    carried = part.copy(buffer, 0, whole);
  }
  const digest: Hash = `sha256:${hash.digest("hex")}`;
  if (bom && bom.encoding !== "utf-8") {
    const isDecoded = fstatSync(fd).size <= MAX_UTF16_BYTES;
    return { hash: digest, text: isDecoded ? textFactsOf(readAll(fd)) : undefined };
  }
  const isWholeText = isTextSoFar && carried === 0;
  return {
    hash: digest,
    text: isWholeText ? { encoding: "utf-8", bom: (bom?.length ?? 0) > 0, ...lines.facts() } : undefined,
  };
}

const MAX_CARRY_BYTES = 3;
