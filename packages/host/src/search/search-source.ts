import { createHash } from "node:crypto";
import { readFile, readFileSync, readSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { type Hash, ToolError } from "@octant/core";
import type { Confinement, Pinned } from "../confinement.ts";
import { bomOf, utf16ToUtf8 } from "../files/text.ts";
import { hashOf } from "../hashes.ts";
import type { Path } from "../path.ts";

/** A file's bytes as ripgrep sees them: without a byte order mark, and UTF-16 as UTF-8. */
export interface Source extends Disposable {
  /** Of the file on disk; null when it is too large to be read whole. */
  readonly hash: Hash | null;
  readonly size: number;
  /** At most the available bytes. It may be the file's only copy in memory, so it must not be changed. */
  slice(from: number, to: number): Buffer;
}

/** Files up to this size are read whole and hashed. */
const MAX_WHOLE_BYTES = 67_108_864;
const MAX_SYNC_BYTES = 1_048_576;

/** Undefined when the path no longer leads to a readable file inside the workspace, or leads to another one. */
export async function openSource(confinement: Confinement, path: Path): Promise<Source | undefined> {
  const file = openIfThere(confinement, path);
  if (!file) return undefined;
  if (file.path === path && file.stat.size > MAX_WHOLE_BYTES) return partwise(file);
  using _closing = file;
  if (file.path !== path) return undefined;
  if (file.stat.size <= MAX_SYNC_BYTES) {
    const bytes = readFileSync(file.fd);
    return whole(bytes, hashOf(bytes));
  }
  const bytes = await promisify(readFile)(file.fd);
  return whole(bytes, await hashInTurns(bytes));
}

const LEFT_OUT: ReadonlySet<string> = new Set([
  "NOT_FOUND",
  "NOT_A_FILE",
  "OUTSIDE_WORKSPACE",
  "ACCESS_DENIED",
]);

function openIfThere(confinement: Confinement, path: Path): Pinned | undefined {
  try {
    return confinement.openFile(path);
  } catch (error) {
    if (error instanceof ToolError && LEFT_OUT.has(error.code)) return undefined;
    throw error;
  }
}

/** Lets others run in between. */
async function hashInTurns(bytes: Buffer): Promise<Hash> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += MAX_SYNC_BYTES) {
    hash.update(bytes.subarray(at, at + MAX_SYNC_BYTES));
    await nextTurn();
  }
  return `sha256:${hash.digest("hex")}`;
}

function whole(bytes: Buffer, hash: Hash): Source {
  const { encoding, length } = bomOf(bytes);
  const text = encoding === "utf-8" ? bytes.subarray(length) : (utf16ToUtf8(bytes, encoding) ?? bytes);
  return {
    hash,
    size: text.length,
    slice: (from, to) => text.subarray(Math.max(0, from), to),
    [Symbol.dispose]: () => {},
  };
}

function partwise(file: Pinned): Source {
  const read = (from: number, to: number): Buffer => {
    const part = Buffer.allocUnsafe(Math.max(0, Math.min(to, file.stat.size) - from));
    return part.subarray(0, readSync(file.fd, part, 0, part.length, from));
  };
  const mark = bomOf(read(0, MAX_MARK_BYTES)).length;
  return {
    hash: null,
    size: file.stat.size - mark,
    slice: (from, to) => read(Math.max(0, from) + mark, to + mark),
    [Symbol.dispose]: () => file[Symbol.dispose](),
  };
}

const MAX_MARK_BYTES = 3;
