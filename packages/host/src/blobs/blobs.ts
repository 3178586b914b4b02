import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Hash, ownerOf, ToolError } from "@octant/core";
import { hashOf } from "../hashes.ts";
import { createDatabase, durably, inTransaction, openDatabase, setAside } from "../sqlite/database.ts";

export interface Blob {
  readonly hash: Hash;
  readonly bytes: Uint8Array;
}

/** Above this size, the blobs that were put longest ago are removed. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** Younger blobs are never removed: an edit in progress may depend on them. */
const GRACE_MS = 10 * 60 * 1000;
/** Each put above the limit frees its own size and this much, so that the store shrinks and no put takes long. */
const FREED_BYTES = 1024 * 1024;
const MAX_FREED_BLOBS = 1_000;

const MIGRATIONS = [
  `CREATE TABLE blobs (
    hash TEXT PRIMARY KEY, put_at INTEGER NOT NULL, size INTEGER NOT NULL, bytes BLOB NOT NULL
  ) STRICT;
  CREATE INDEX blobs_by_age ON blobs (put_at);`,
  `CREATE TABLE granted (hash TEXT NOT NULL, owner TEXT NOT NULL, PRIMARY KEY (hash, owner)) STRICT, WITHOUT ROWID;`,
];
const WHAT = "the stored contents";

export interface PutOptions {
  readonly durable?: boolean;
}

/**
 * Content-addressed storage of what edits replace and of long answers. Synchronous, because an edit stores what it
 * replaces while it holds the lock of its files.
 */
export interface Blobs {
  /** Stores the bytes and returns their hash; `durable: true` waits until they survive a crash. */
  put(bytes: Uint8Array, options?: PutOptions): Hash;
  /** The same for several blobs with known hashes, all or none. */
  putAll(blobs: readonly Blob[], options?: PutOptions): void;
  has(hash: Hash): boolean;
  /** The bytes; NOT_FOUND when they are missing or do not match the hash. */
  get(hash: Hash): Buffer;
  /** Lets the owner of a caller read them: the caller was given their refs. */
  grant(hashes: readonly Hash[], caller: string): void;
  /** Whether they are there, and the caller's owner, if it has one, was given their ref. */
  isVisible(hash: Hash, caller: string): boolean;
  close(): void;
}

/** Blobs in a SQLite file. Several processes may share the folder. */
export function createBlobs(folder: string, maxBytes = MAX_BYTES): Blobs {
  const file = join(folder, "blobs.sqlite");
  const { use, close } = createDatabase({
    what: WHAT,
    open() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return openTable(file);
    },
    onDamage: () => setAside(file),
  });

  const putAll = (blobs: readonly Blob[], { durable = false }: PutOptions = {}): void => {
    if (blobs.length === 0) return;
    use(({ db, ...table }) => {
      const now = Date.now();
      const write = () =>
        inTransaction(db, () => {
          for (const { hash, bytes } of blobs) table.insert.run(hash, now, bytes.length, bytes);
          const bytes = blobs.reduce((sum, blob) => sum + blob.bytes.length, 0);
          if (table.usedBytes() > maxBytes) table.free(bytes + FREED_BYTES, now - GRACE_MS);
        });
      return durable ? durably(db, write) : write();
    });
  };
  const get = (hash: Hash): Buffer => {
    const bytes = use(({ select }) => select.get(hash)?.["bytes"]);
    if (!(bytes instanceof Uint8Array)) throw notStored(hash);
    const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (hashOf(found) === hash) return found;
    throw notStored(hash);
  };

  return {
    put(bytes, options) {
      const blob = toBlob(bytes);
      putAll([blob], options);
      return blob.hash;
    },
    putAll,
    has: (hash) => use(({ exists }) => exists.get(hash) !== undefined),
    grant(hashes, caller) {
      const owner = ownerOf(caller);
      if (owner !== undefined) use(({ grant }) => hashes.forEach((hash) => void grant.run(hash, owner)));
    },
    isVisible: (hash, caller) =>
      use(({ exists, granted }) => {
        const owner = ownerOf(caller);
        return (
          exists.get(hash) !== undefined && (owner === undefined || granted.get(hash, owner) !== undefined)
        );
      }),
    get,
    close,
  };
}

function openTable(file: string) {
  const db = openDatabase(file, WHAT, MIGRATIONS);
  const oldest = db.prepare("SELECT hash, size FROM blobs WHERE put_at < ? ORDER BY put_at LIMIT ?");
  const remove = db.prepare("DELETE FROM blobs WHERE hash = ?");
  const forget = db.prepare("DELETE FROM granted WHERE hash = ?");
  const numberOf = (pragma: string) => Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
  return {
    db,
    close: () => db.close(),
    insert: db.prepare(
      "INSERT INTO blobs VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET put_at = excluded.put_at, bytes = excluded.bytes",
    ),
    select: db.prepare("SELECT bytes FROM blobs WHERE hash = ?"),
    exists: db.prepare("SELECT 1 FROM blobs WHERE hash = ?"),
    grant: db.prepare("INSERT OR IGNORE INTO granted VALUES (?, ?)"),
    granted: db.prepare("SELECT 1 FROM granted WHERE hash = ? AND owner = ?"),
    usedBytes: () => (numberOf("page_count") - numberOf("freelist_count")) * numberOf("page_size"),
    /** Removes the oldest blobs before a time, at least this many bytes if there are. */
    free(bytes: number, before: number) {
      let freed = 0;
      for (const row of oldest.all(before, MAX_FREED_BLOBS)) {
        if (freed >= bytes) return;
        remove.run(String(row["hash"]));
        forget.run(String(row["hash"]));
        freed += Number(row["size"]);
      }
    },
  };
}

export const toBlob = (bytes: Uint8Array): Blob => ({ hash: hashOf(bytes), bytes });

/** The ref that reads a blob. */
export const toRef = (hash: Hash): string => `blob:${hash}`;

export const notStored = (hash: Hash) =>
  new ToolError(
    "NOT_FOUND",
    `${toRef(hash)} is no longer stored; old content is removed when space runs short`,
    {
      id: toRef(hash),
    },
  );
