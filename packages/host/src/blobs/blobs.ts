import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type Hash, ToolError } from "@octant/core";
import { errnoOf } from "../errno.ts";
import { hashOf } from "../hashes.ts";
import { syncFolder } from "../sync-folder.ts";
import { toToolError } from "../system-error.ts";
import { createCollector } from "./blob-collection.ts";
import { createSmallBlobs, SMALL_BLOB_BYTES } from "./small-blobs.ts";

/** Content-addressed storage. Several processes may share the folder. */
export interface Blobs {
  /** Stores the bytes and returns their hash; `durable: true` waits until they are on disk. */
  put(bytes: Uint8Array, options?: { readonly durable?: boolean }): Hash;
  /** The same for several blobs with known hashes; faster than one by one. */
  putAll(blobs: readonly Blob[], options?: { readonly durable?: boolean }): void;
  has(hash: Hash): boolean;
  /** The bytes; NOT_FOUND when they are missing or do not match the hash. */
  get(hash: Hash): Buffer;
  /** For ranged reads of big blobs: the bytes are not checked against the hash. */
  open(hash: Hash): Disposable & { readonly fd: number; readonly size: number };
  close(): void;
}

export interface Blob {
  readonly hash: Hash;
  readonly bytes: Uint8Array;
}

const MAX_BYTES = 1024 * 1024 * 1024;
const TEMP_MAX_AGE_MS = 60 * 60 * 1000;
const TEMP = "tmp";

export interface BlobsOptions {
  readonly maxBytes?: number;
  /** Blobs up to this size share a file. */
  readonly smallBytes?: number;
}

export function createBlobs(
  folder: string,
  { maxBytes = MAX_BYTES, smallBytes = SMALL_BLOB_BYTES }: BlobsOptions = {},
): Blobs {
  const temp = join(folder, TEMP);
  mkdirSync(temp, { recursive: true, mode: 0o700 });
  sweepTemp(temp);
  const collector = createCollector(folder, temp, maxBytes);
  const small = createSmallBlobs(folder);

  const shardOf = (hash: Hash) => join(folder, digestOf(hash).slice(0, SHARD_CHARS));
  const pathOf = (hash: Hash) => join(shardOf(hash), digestOf(hash).slice(SHARD_CHARS));

  const write = (hash: Hash, bytes: Uint8Array, durable: boolean) => {
    const shard = shardOf(hash);
    const isNewShard = mkdirSync(shard, { recursive: true, mode: 0o700 }) !== undefined;
    const draft = join(temp, `${process.pid}-${randomBytes(8).toString("hex")}`);
    try {
      writeNewFile(draft, bytes, durable);
      renameSync(draft, pathOf(hash));
    } catch (cause) {
      rmSync(draft, { force: true });
      throw cause;
    }
    if (durable) syncFolder(shard);
    if (durable && isNewShard) syncFolder(folder);
  };

  const putLarge = (hash: Hash, bytes: Uint8Array, durable: boolean) => {
    const isThere = isStored(pathOf(hash), bytes);
    if (!isThere) write(hash, bytes, durable);
    // An earlier put may not have waited for the disk.
    if (isThere && durable) syncFile(pathOf(hash), shardOf(hash));
    collector.added(bytes.length);
  };
  const putAll: Blobs["putAll"] = (blobs, { durable = false } = {}) => {
    const isSmall = ({ bytes }: Blob) => bytes.length <= smallBytes;
    const together = blobs.filter(isSmall);
    const alone = blobs.filter((blob) => !isSmall(blob));
    for (const { hash, bytes } of alone) orRefused(hash, () => putLarge(hash, bytes, durable));
    if (together[0]) orRefused(together[0].hash, () => small.put(together, durable));
  };

  return {
    put(bytes, options) {
      const blob = toBlob(bytes);
      putAll([blob], options);
      return blob.hash;
    },
    putAll,
    has: (hash) =>
      small.get(hash) !== undefined || statSync(pathOf(hash), { throwIfNoEntry: false }) !== undefined,
    get(hash) {
      const found = small.get(hash);
      if (found) return found;
      const bytes = orNotStored(hash, () => readFileSync(pathOf(hash)));
      if (hashOf(bytes) !== hash) throw notStored(hash);
      return bytes;
    },
    open(hash) {
      const found = small.get(hash);
      if (found) return openAlone(temp, found);
      const fd = orNotStored(hash, () => openSync(pathOf(hash), constants.O_RDONLY));
      return { fd, size: fstatSync(fd).size, [Symbol.dispose]: () => closeSync(fd) };
    },
    close: small.close,
  };
}

/** A file with these bytes that is deleted when closed. */
function openAlone(temp: string, bytes: Uint8Array) {
  const path = join(temp, `${process.pid}-${randomBytes(8).toString("hex")}`);
  const fd = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  writeSync(fd, bytes);
  return { fd, size: bytes.length, [Symbol.dispose]: () => closeSync(fd) };
}

const SHARD_CHARS = 2;

const digestOf = (hash: Hash) => hash.slice("sha256:".length);

export const toBlob = (bytes: Uint8Array): Blob => ({ hash: hashOf(bytes), bytes });

/** The ref that reads a blob. */
export const toRef = (hash: Hash): string => `blob:${hash}`;

export const notStored = (hash: Hash, cause?: unknown) =>
  new ToolError(
    "NOT_FOUND",
    `${toRef(hash)} is no longer stored; old content is removed when space runs short`,
    { id: toRef(hash) },
    { cause },
  );

function orNotStored<T>(hash: Hash, look: () => T): T {
  try {
    return look();
  } catch (cause) {
    throw errnoOf(cause) === "ENOENT" ? notStored(hash, cause) : toToolError(cause, toRef(hash));
  }
}

function orRefused(hash: Hash, keep: () => void): void {
  try {
    keep();
  } catch (cause) {
    throw toToolError(cause, toRef(hash));
  }
}

/**
 * Whether exactly these bytes are stored. Marks the blob as used before comparing, so that no collection removes it
 * meanwhile.
 */
function isStored(path: string, bytes: Uint8Array): boolean {
  const now = Date.now() / 1000;
  try {
    utimesSync(path, now, now);
    return readFileSync(path).equals(bytes);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return false;
    throw cause;
  }
}

function writeNewFile(path: string, bytes: Uint8Array, durable: boolean): void {
  const fd = openSync(path, "wx", 0o600);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    if (durable) fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function syncFile(path: string, shard: string): void {
  const fd = openSync(path, "r");
  try {
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
  syncFolder(shard);
}

/** Removes temp files of killed processes. Recent ones may still be in use. */
function sweepTemp(temp: string): void {
  const before = Date.now() - TEMP_MAX_AGE_MS;
  for (const name of readdirSync(temp)) {
    const path = join(temp, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat && stat.mtimeMs < before) rmSync(path, { force: true });
  }
}
