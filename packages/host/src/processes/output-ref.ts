import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fstatSync, openSync, unlinkSync, writeSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { devNull } from "node:os";
import { openSpool, type Spool, type SpoolCaps } from "./spool.ts";

/**
 * Opens output to be read like a file. A line marks a middle part that is no longer stored. While output that exceeds
 * the limit is still arriving, only its head and tail are readable: ordering all of it would take too long.
 */
export function openOutput(
  path: string,
  caps: SpoolCaps,
): Disposable & { readonly fd: number; readonly size: number } {
  const spool = openSpool(path, caps);
  if (spool.total() === 0) return opened(openSync(devNull, "r"));
  if (!spool.gap()) return opened(openSync(path, "r"));
  return opened(existsSync(orderedPath(path)) ? openSync(orderedPath(path), "r") : openExcerpt(path, spool));
}

const opened = (fd: number) => ({
  fd,
  size: fstatSync(fd).size,
  [Symbol.dispose]: () => closeSync(fd),
});

const orderedPath = (path: string) => `${path}.ordered`;
const PART_BYTES = 1024 * 1024;

/** Writes output with a missing middle in printed order beside the spool. Only for output that has ended. */
export async function orderOutput(path: string, caps: SpoolCaps): Promise<void> {
  const spool = openSpool(path, caps);
  const partial = `${orderedPath(path)}.partial`;
  try {
    await using file = await open(partial, "w", 0o600);
    for (const part of partsOf(spool)) await file.writeFile(part);
    await rename(partial, orderedPath(path));
  } catch {
    // The disk is full. The head and tail can still be read.
    await rm(partial, { force: true }).catch(() => {});
  }
}

function* partsOf(spool: Spool): Iterable<Buffer> {
  for (let at = 0; ; ) {
    const { start, bytes } = spool.read(at, PART_BYTES);
    if (bytes.length === 0) return;
    if (start > at) yield Buffer.from(`\n[${start - at} bytes of output are not stored]\n`);
    yield bytes;
    at = start + bytes.length;
  }
}

/** A copy of the beginning and the end, which vanishes when it is closed. */
function openExcerpt(path: string, spool: Spool): number {
  const head = spool.read(0, PART_BYTES).bytes;
  const { start, bytes: tail } = spool.read(Math.max(head.length, spool.total() - PART_BYTES), PART_BYTES);
  const copy = `${path}.${randomBytes(8).toString("hex")}`;
  const fd = openSync(copy, "wx+", 0o600);
  unlinkSync(copy);
  try {
    const note = `\n[${start - head.length} bytes of output are not stored, or not available while more arrives]\n`;
    for (const part of [head, Buffer.from(note), tail]) writeSync(fd, part);
    return fd;
  } catch (cause) {
    closeSync(fd);
    throw cause;
  }
}
