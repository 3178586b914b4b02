import { join } from "node:path";
import { ToolError } from "@octant/core";
import type { Path } from "../path.ts";
import { inTransaction, openDatabase } from "../sqlite/database.ts";
import { CONTENTS_SCHEMA, type Contents, createContents, MAX_CONTENT_BYTES } from "./contents.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** A state of the workspace that can be restored. */
export interface Checkpoint {
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  /** The reason for the checkpoint. */
  readonly label: string;
  readonly session_id: string | null;
}

/** The unit of undo: a turn of an agent, or a command of a client. */
export interface Turn {
  readonly id: number;
  /** ISO 8601. */
  readonly at: string;
  readonly label: string;
  readonly session_id: string | null;
  /** The checkpoints around it. null: it was interrupted. */
  readonly before: number;
  readonly after: number | null;
  readonly undone: boolean;
}

export interface CheckpointStore {
  readonly contents: Contents;
  beginTurn(turn: Pick<Turn, "at" | "label" | "session_id" | "before">): number;
  /** A turn without changes is removed. */
  endTurn(id: number, after: number): void;
  markTurn(id: number, undone: boolean): void;
  /** The newest checkpoint taken by the session itself, from `seq` on. */
  lastOf(session_id: string | null, seq: number): number;
  /** Newest first. */
  turns(limit: number, session_id?: string): Turn[];
  /** Other turns between whose checkpoints some of these lie, unless they were undone. */
  alongside(turn: { readonly id: number; readonly before: number; readonly after: number }): Turn[];
  /** Adds a checkpoint with the changes since the last one. */
  add(checkpoint: Omit<Checkpoint, "seq">, changes: readonly StoredChange[], began: number): Checkpoint;
  list(limit: number): Checkpoint[];
  get(seq: number): Checkpoint | undefined;
  /** The state at a checkpoint; NOT_FOUND when it was removed. */
  snapshotAt(seq: number): Map<Path, SnapshotEntry>;
  /** The newest state and the start time of its snapshot; both empty at first. */
  latest(): { snapshot: Map<Path, SnapshotEntry>; began: number; seq: number };
  close(): void;
}

export interface StoredChange {
  readonly path: Path;
  readonly entry: SnapshotEntry | undefined;
}

/** The number of retained checkpoints; older ones are removed when a new one is added. */
const MAX_CHECKPOINTS = 500;
/** When the contents exceed the limit, this share of the checkpoints is removed, repeatedly until they fit. */
const FORGOTTEN_SHARE = 0.1;

/** How many pages of 4 KiB are returned to the disk at a time. */
const FREED_PAGES = 16_384;

/**
 * Each row of `entries` holds the state of a path from one checkpoint to another, so a checkpoint costs one row per
 * changed path.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS checkpoints (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, label TEXT NOT NULL, session_id TEXT, began REAL NOT NULL
  );
  CREATE TABLE IF NOT EXISTS entries (
    path TEXT NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER,
    kind TEXT NOT NULL, mode INTEGER NOT NULL, hash TEXT,
    size INTEGER NOT NULL, mtime REAL NOT NULL, ctime REAL NOT NULL, ino INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS entries_live ON entries (path) WHERE to_seq IS NULL;
  CREATE INDEX IF NOT EXISTS entries_ended ON entries (to_seq) WHERE to_seq IS NOT NULL;
  CREATE INDEX IF NOT EXISTS entries_hash ON entries (hash);
  CREATE TABLE IF NOT EXISTS turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, label TEXT NOT NULL, session_id TEXT,
    before_seq INTEGER NOT NULL, after_seq INTEGER, undone INTEGER NOT NULL DEFAULT 0
  );
  ${CONTENTS_SCHEMA}
`;

/** Checkpoints of version 1 stored their contents elsewhere and are dropped. */
const MIGRATIONS = [
  "",
  `DROP TABLE IF EXISTS entries; DROP TABLE IF EXISTS turns; DROP TABLE IF EXISTS checkpoints; ${SCHEMA}`,
];

export const checkpointFile = (folder: string): string => join(folder, "checkpoints.sqlite");

export async function openCheckpointStore(
  folder: string,
  maxBytes: number = MAX_CONTENT_BYTES,
): Promise<CheckpointStore> {
  const database = openDatabase(checkpointFile(folder), "the checkpoints", MIGRATIONS);
  const contents = createContents(database);
  const hasContent = database.prepare("SELECT 1 FROM contents WHERE hash = ?");
  const insertCheckpoint = database.prepare(
    "INSERT INTO checkpoints (at, label, session_id, began) VALUES (?, ?, ?, ?)",
  );
  const end = database.prepare("UPDATE entries SET to_seq = ? WHERE path = ? AND to_seq IS NULL");
  const insert = database.prepare("INSERT INTO entries VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?, ?)");

  /** Retains this many of the newest checkpoints; false when there are no more to remove. */
  const forgetOld = (kept: number): boolean => {
    const oldest = database
      .prepare("SELECT seq FROM checkpoints ORDER BY seq DESC LIMIT 1 OFFSET ?")
      .get(kept - 1);
    if (!oldest) return false;
    const seq = Number(oldest["seq"]);
    if (database.prepare("DELETE FROM checkpoints WHERE seq < ?").run(seq).changes === 0) return false;
    database.prepare("DELETE FROM turns WHERE before_seq < ?").run(seq);
    const gone = database
      .prepare("DELETE FROM entries WHERE to_seq IS NOT NULL AND to_seq <= ? RETURNING hash")
      .all(seq);
    contents.forget(gone.map(({ hash }) => String(hash)));
    return true;
  };
  /** Removes the oldest checkpoints until the remaining contents fit; the newest one always stays. */
  const makeRoom = (): boolean => {
    let hasForgotten = forgetOld(MAX_CHECKPOINTS);
    while (contents.bytes() > maxBytes) {
      const count = Number(database.prepare("SELECT count(*) AS count FROM checkpoints").get()?.["count"]);
      if (!forgetOld(Math.max(1, Math.floor(count * (1 - FORGOTTEN_SHARE))))) {
        contents.collect();
        break;
      }
      hasForgotten = true;
    }
    return hasForgotten;
  };
  const rows = (where: string, ...values: number[]): Map<Path, SnapshotEntry> =>
    new Map(
      database
        .prepare(`SELECT * FROM entries WHERE ${where}`)
        .all(...values)
        .map((row) => [String(row["path"]), toEntry(row)]),
    );

  return {
    contents,
    add({ at, label, session_id }, changes, began) {
      const { seq, hasForgotten } = inTransaction(database, () => {
        const seq = Number(insertCheckpoint.run(at, label, session_id, began).lastInsertRowid);
        for (const { path, entry } of changes) {
          end.run(seq, path);
          if (!entry) continue;
          if (hasToBeKept(entry) && !hasContent.get(entry.hash)) throw contentGone();
          const { kind, mode, hash, size, mtimeMs, ctimeMs, ino } = entry;
          insert.run(path, seq, kind, mode, hash, size, mtimeMs, ctimeMs, ino);
        }
        return { seq, hasForgotten: makeRoom() };
      });
      if (hasForgotten) database.exec(`PRAGMA incremental_vacuum(${FREED_PAGES})`);
      return { seq, at, label, session_id };
    },
    list: (limit) =>
      database.prepare("SELECT * FROM checkpoints ORDER BY seq DESC LIMIT ?").all(limit).map(toCheckpoint),
    get(seq) {
      const row = database.prepare("SELECT * FROM checkpoints WHERE seq = ?").get(seq);
      return row && toCheckpoint(row);
    },
    snapshotAt(seq) {
      // Without its ended entries it would look like a state with fewer files.
      if (!database.prepare("SELECT 1 FROM checkpoints WHERE seq = ?").get(seq)) throw forgotten(seq);
      return rows("from_seq <= ? AND (to_seq IS NULL OR to_seq > ?)", seq, seq);
    },
    latest() {
      const row = database.prepare("SELECT seq, began FROM checkpoints ORDER BY seq DESC LIMIT 1").get();
      return {
        snapshot: rows("to_seq IS NULL"),
        began: Number(row?.["began"] ?? 0),
        seq: Number(row?.["seq"] ?? 0),
      };
    },
    beginTurn: ({ at, label, session_id, before }) =>
      Number(
        database
          .prepare("INSERT INTO turns (at, label, session_id, before_seq) VALUES (?, ?, ?, ?)")
          .run(at, label, session_id, before).lastInsertRowid,
      ),
    endTurn(id, after) {
      database.prepare("UPDATE turns SET after_seq = ? WHERE id = ?").run(after, id);
      database.prepare("DELETE FROM turns WHERE id = ? AND before_seq = after_seq").run(id);
    },
    markTurn: (id, undone) =>
      void database.prepare("UPDATE turns SET undone = ? WHERE id = ?").run(undone ? 1 : 0, id),
    lastOf: (session_id, seq) =>
      Number(
        database
          .prepare(
            "SELECT max(seq) AS seq FROM checkpoints WHERE session_id IS ? AND seq >= ? AND label <> 'before undo'",
          )
          .get(session_id, seq)?.["seq"] ?? seq,
      ),
    turns: (limit, session_id) =>
      database
        .prepare("SELECT * FROM turns WHERE ? IS NULL OR session_id = ? ORDER BY id DESC LIMIT ?")
        .all(session_id ?? null, session_id ?? null, limit)
        .map(toTurn),
    alongside: ({ id, before, after }) =>
      database
        .prepare("SELECT * FROM turns WHERE id <> ? AND before_seq < ? AND after_seq > ? AND undone = 0")
        .all(id, after, before)
        .map(toTurn),
    close: () => database.close(),
  };
}

const hasToBeKept = ({ kind, hash }: SnapshotEntry): boolean => kind !== "directory" && hash !== null;

/** Another process removed it in between; another attempt reads it again. */
const contentGone = () =>
  new ToolError("LOCKED", "another process is cleaning up the checkpoints; try again", {});

const forgotten = (seq: number) =>
  new ToolError(
    "NOT_FOUND",
    `checkpoint ${seq} is no longer stored; 'octant undo --list' shows the stored ones`,
    {},
  );

type Row = Record<string, unknown>;

const toCheckpoint = (row: Row): Checkpoint => ({
  seq: Number(row["seq"]),
  at: String(row["at"]),
  label: String(row["label"]),
  session_id: row["session_id"] === null ? null : String(row["session_id"]),
});

const toTurn = (row: Row): Turn => ({
  id: Number(row["id"]),
  at: String(row["at"]),
  label: String(row["label"]),
  session_id: row["session_id"] === null ? null : String(row["session_id"]),
  before: Number(row["before_seq"]),
  after: row["after_seq"] === null ? null : Number(row["after_seq"]),
  undone: row["undone"] === 1,
});

const toEntry = (row: Row): SnapshotEntry => ({
  // add() wrote it.
  kind: row["kind"] as SnapshotEntry["kind"],
  mode: Number(row["mode"]),
  hash: row["hash"] === null ? null : String(row["hash"]),
  size: Number(row["size"]),
  mtimeMs: Number(row["mtime"]),
  ctimeMs: Number(row["ctime"]),
  ino: Number(row["ino"]),
});

export type { Snapshot };
