import { join } from "node:path";
import type { Path } from "../path.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** A state of the workspace that can be gone back to. */
export interface Checkpoint {
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  /** What was about to happen. */
  readonly label: string;
  readonly session_id: string | null;
}

/** What is undone as a whole: a turn of an agent, or a command of a client. */
export interface Turn {
  readonly id: number;
  /** ISO 8601. */
  readonly at: string;
  readonly label: string;
  readonly session_id: string | null;
  /** The checkpoints around it. Null: it was cut off. */
  readonly before: number;
  readonly after: number | null;
  readonly undone: boolean;
}

export interface CheckpointStore {
  beginTurn(turn: Pick<Turn, "at" | "label" | "session_id" | "before">): number;
  /** A turn that changed nothing is forgotten. */
  endTurn(id: number, after: number): void;
  markTurn(id: number, undone: boolean): void;
  /** The newest checkpoint that a session took itself, from `seq` on. */
  lastOf(session_id: string | null, seq: number): number;
  /** Newest first. */
  turns(limit: number, session_id?: string): Turn[];
  /** Adds a checkpoint with what changed since the last one. */
  add(checkpoint: Omit<Checkpoint, "seq">, changes: readonly StoredChange[], began: number): Checkpoint;
  list(limit: number): Checkpoint[];
  get(seq: number): Checkpoint | undefined;
  /** The state at a checkpoint. */
  snapshotAt(seq: number): Map<Path, SnapshotEntry>;
  /** The newest state, and when its snapshot began; both empty at first. */
  latest(): { snapshot: Map<Path, SnapshotEntry>; began: number; seq: number };
  close(): void;
}

export interface StoredChange {
  readonly path: Path;
  readonly entry: SnapshotEntry | undefined;
}

/** How many checkpoints are kept; older ones are forgotten when a new one comes. */
const MAX_CHECKPOINTS = 500;

/**
 * Each row of `entries` says how a path was from one checkpoint on until another, so a checkpoint costs one row for
 * each path that changed.
 */
const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
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
  CREATE TABLE IF NOT EXISTS turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, label TEXT NOT NULL, session_id TEXT,
    before_seq INTEGER NOT NULL, after_seq INTEGER, undone INTEGER NOT NULL DEFAULT 0
  );
  PRAGMA user_version = 1;
`;

export const checkpointFile = (folder: string): string => join(folder, "checkpoints.sqlite");

export async function openCheckpointStore(folder: string): Promise<CheckpointStore> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(checkpointFile(folder), { timeout: 10_000 });
  try {
    database.exec(SCHEMA);
  } catch (cause) {
    database.close();
    throw cause;
  }
  const insertCheckpoint = database.prepare(
    "INSERT INTO checkpoints (at, label, session_id, began) VALUES (?, ?, ?, ?)",
  );
  const end = database.prepare("UPDATE entries SET to_seq = ? WHERE path = ? AND to_seq IS NULL");
  const insert = database.prepare("INSERT INTO entries VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?, ?)");

  const forgetOld = () => {
    const oldest = database
      .prepare("SELECT seq FROM checkpoints ORDER BY seq DESC LIMIT 1 OFFSET ?")
      .get(MAX_CHECKPOINTS - 1);
    if (!oldest) return;
    const seq = Number(oldest["seq"]);
    database.prepare("DELETE FROM checkpoints WHERE seq < ?").run(seq);
    database.prepare("DELETE FROM turns WHERE before_seq < ?").run(seq);
    database.prepare("DELETE FROM entries WHERE to_seq IS NOT NULL AND to_seq <= ?").run(seq);
  };
  const rows = (where: string, ...values: number[]): Map<Path, SnapshotEntry> =>
    new Map(
      database
        .prepare(`SELECT * FROM entries WHERE ${where}`)
        .all(...values)
        .map((row) => [String(row["path"]), toEntry(row)]),
    );

  return {
    add({ at, label, session_id }, changes, began) {
      database.exec("BEGIN IMMEDIATE");
      try {
        const seq = Number(insertCheckpoint.run(at, label, session_id, began).lastInsertRowid);
        for (const { path, entry } of changes) {
          end.run(seq, path);
          if (entry)
            insert.run(
              path,
              seq,
              entry.kind,
              entry.mode,
              entry.hash,
              entry.size,
              entry.mtimeMs,
              entry.ctimeMs,
              entry.ino,
            );
        }
        forgetOld();
        database.exec("COMMIT");
        return { seq, at, label, session_id };
      } catch (cause) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw cause;
      }
    },
    list: (limit) =>
      database.prepare("SELECT * FROM checkpoints ORDER BY seq DESC LIMIT ?").all(limit).map(toCheckpoint),
    get(seq) {
      const row = database.prepare("SELECT * FROM checkpoints WHERE seq = ?").get(seq);
      return row && toCheckpoint(row);
    },
    snapshotAt: (seq) => rows("from_seq <= ? AND (to_seq IS NULL OR to_seq > ?)", seq, seq),
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
    close: () => database.close(),
  };
}

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
  // Written by add().
  kind: row["kind"] as SnapshotEntry["kind"],
  mode: Number(row["mode"]),
  hash: row["hash"] === null ? null : String(row["hash"]),
  size: Number(row["size"]),
  mtimeMs: Number(row["mtime"]),
  ctimeMs: Number(row["ctime"]),
  ino: Number(row["ino"]),
});

export type { Snapshot };
