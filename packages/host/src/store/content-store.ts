import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type Hash, ToolError } from "@octant/core";
import { errnoOf } from "../errno.ts";
import { syncFolder } from "../sync-folder.ts";
import { toToolError } from "../system-error.ts";

export interface StoredContent {
  readonly hash: Hash;
  readonly size: number;
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

const MAX_CONTENT_BYTES = 4 * 1024 * 1024 * 1024;
const SHARD_CHARS = 2;

/**
 * Content-addressed storage that lasts until the state folder is removed; separate from the undo history. Nothing is
 * created before the first put.
 */
export function createContentStore(folder: () => string) {
  const pathOf = (hash: Hash) => {
    const digest = hash.slice("sha256:".length);
    return join(folder(), digest.slice(0, SHARD_CHARS), digest.slice(SHARD_CHARS));
  };
  const open = (hash: Hash) => {
    const fd = orNotFound(hash, () => openSync(pathOf(hash), "r"));
    return { fd, size: fstatSync(fd).size, [Symbol.dispose]: () => closeSync(fd) };
  };

  return {
    /** Stores the bytes durably; no more than a chunk of them is in memory. */
    async put(chunks: Chunks, signal?: AbortSignal): Promise<StoredContent> {
      const base = folder();
      const draft = join(base, `draft-${process.pid}-${randomBytes(8).toString("hex")}`);
      try {
        const stored = await writeDraft(draft, chunks, signal);
        place(draft, pathOf(stored.hash), base);
        return stored;
      } catch (cause) {
        throw cause instanceof ToolError ? cause : toToolError(cause, "the content store");
      } finally {
        // A renamed one no longer exists.
        rmSync(draft, { force: true });
      }
    },
    stat: (hash: Hash): StoredContent => ({
      hash,
      size: orNotFound(hash, () => statSync(pathOf(hash))).size,
    }),
    /** Up to `length` bytes from `offset`, read directly from disk. */
    read(hash: Hash, offset: number, length: number): Buffer {
      using file = open(hash);
      const bytes = Buffer.alloc(Math.max(0, Math.min(length, file.size - offset)));
      let filled = 0;
      while (filled < bytes.length) {
        const count = readSync(file.fd, bytes, filled, bytes.length - filled, offset + filled);
        if (count === 0) break;
        filled += count;
      }
      return bytes.subarray(0, filled);
    },
    open,
  };
}

async function writeDraft(
  draft: string,
  chunks: Chunks,
  signal: AbortSignal | undefined,
): Promise<StoredContent> {
  const digest = createHash("sha256");
  let size = 0;
  const fd = openSync(draft, "wx", 0o600);
  try {
    for await (const bytes of chunks) {
      signal?.throwIfAborted();
      size += bytes.length;
      if (size > MAX_CONTENT_BYTES) {
        const message = `content has at most ${MAX_CONTENT_BYTES} bytes`;
        throw new ToolError("TOO_LARGE", message, { limit: MAX_CONTENT_BYTES });
      }
      digest.update(bytes);
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    }
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return { hash: `sha256:${digest.digest("hex")}`, size };
}

function place(draft: string, path: string, base: string): void {
  const shard = join(path, "..");
  const isNew = mkdirSync(shard, { recursive: true, mode: 0o700 }) !== undefined;
  renameSync(draft, path);
  syncFolder(shard);
  if (isNew) syncFolder(base);
}

function orNotFound<T>(hash: Hash, look: () => T): T {
  try {
    return look();
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw toToolError(cause, hash);
    throw new ToolError(
      "NOT_FOUND",
      `no content with ${hash} is stored; cas.store stores some`,
      { id: hash },
      { cause },
    );
  }
}
