import type { DatabaseSync } from "node:sqlite";
import type { Hash } from "@octant/core";
import { type Blob, notStored } from "../blobs/blobs.ts";
import { hashOf } from "../hashes.ts";
import { inTransaction } from "../sqlite/database.ts";

/** The limit for stored file contents of one workspace; the oldest checkpoints are removed first. */
export const MAX_CONTENT_BYTES = 1024 * 1024 * 1024;

export const CONTENTS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS contents (hash TEXT PRIMARY KEY, size INTEGER NOT NULL, put_at REAL NOT NULL, bytes BLOB NOT NULL);
  CREATE INDEX IF NOT EXISTS contents_sizes ON contents (size);
`;

const UNNAMED = "NOT EXISTS (SELECT 1 FROM entries WHERE entries.hash = contents.hash)";
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Another process may be about to add the checkpoint that refers to a content. */
const GRACE_MS = 60_000;

export type Contents = ReturnType<typeof createContents>;

/** The file contents of checkpoints. They stay as long as a checkpoint refers to them. */
export function createContents(database: DatabaseSync) {
  const insert = database.prepare(
    "INSERT INTO contents VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET put_at = excluded.put_at",
  );
  const select = database.prepare("SELECT bytes FROM contents WHERE hash = ?");
  const total = database.prepare("SELECT sum(size) AS bytes FROM contents");
  const remove = database.prepare(`DELETE FROM contents WHERE hash = ? AND ${UNNAMED}`);
  let waiting: Blob[] = [];
  let waitingBytes = 0;

  const flush = () => {
    if (waiting.length === 0) return;
    const now = Date.now();
    try {
      inTransaction(database, () => {
        for (const { hash, bytes } of waiting) insert.run(hash, bytes.length, now, bytes);
      });
    } finally {
      waiting = [];
      waitingBytes = 0;
    }
  };
  return {
    /** Buffers the blob until `flush`, or until the buffer is full. */
    put(blob: Blob): void {
      waiting.push(blob);
      waitingBytes += blob.bytes.length;
      if (waitingBytes > MAX_WAITING_BYTES) flush();
    },
    flush,
    get(hash: Hash): Buffer {
      const bytes = select.get(hash)?.["bytes"];
      const found =
        bytes instanceof Uint8Array ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : undefined;
      if (!found || hashOf(found) !== hash) throw notStored(hash);
      return found;
    },
    /** The total size of all contents. */
    bytes: () => Number(total.get()?.["bytes"] ?? 0),
    /** Removes those of these that no checkpoint refers to. */
    forget(hashes: readonly Hash[]): void {
      for (const hash of hashes) remove.run(hash);
    },
    /** Removes contents that a killed process left behind. */
    collect: () =>
      void database
        .prepare(`DELETE FROM contents WHERE put_at < ? AND ${UNNAMED}`)
        .run(Date.now() - GRACE_MS),
  };
}
