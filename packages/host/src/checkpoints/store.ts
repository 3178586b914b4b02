import { join } from "node:path";
import { ToolError } from "@octant/core";
import type { Path } from "../path.ts";
import { inTransaction, openDatabase } from "../sqlite/database.ts";
import { CONTENTS_SCHEMA, createContents } from "./contents.ts";
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

/** The checkpoints around a part of a turn's work. after null: it was interrupted. */
export interface StoredSpan {
  readonly id: number;
  readonly before: number;
  readonly after: number | null;
  /** Whether a command ran in it for long enough that a person may have changed files meanwhile. */
  readonly long: boolean;
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

export interface StoredChange {
  readonly path: Path;
  readonly entry: SnapshotEntry | undefined;
}

/** The number of retained checkpoints; older ones are removed when a new one is added. */
const MAX_CHECKPOINTS = 500;
/** When the contents exceed the limit, this share of the checkpoints is removed, repeatedly until they fit. */
const EVICTED_SHARE = 0.1;

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
    kind TEXT NOT NULL, mode INTEGER NOT NULL, hash TEXT, omitted TEXT,
    size INTEGER NOT NULL, mtime REAL NOT NULL, ctime REAL NOT NULL, ino INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS entries_live ON entries (path) WHERE to_seq IS NULL;
  CREATE INDEX IF NOT EXISTS entries_ended ON entries (to_seq) WHERE to_seq IS NOT NULL;
  CREATE INDEX IF NOT EXISTS entries_hash ON entries (hash);
  CREATE TABLE IF NOT EXISTS turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, label TEXT NOT NULL, session_id TEXT,
    before_seq INTEGER NOT NULL, after_seq INTEGER, undone INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE IF NOT EXISTS spans (
    id INTEGER PRIMARY KEY AUTOINCREMENT, turn INTEGER NOT NULL, before_seq INTEGER NOT NULL, after_seq INTEGER
  );
  CREATE INDEX IF NOT EXISTS spans_turn ON spans (turn);
  ${CONTENTS_SCHEMA}
`;

/** Earlier versions did not record omitted entries, so an undo would remove those: their checkpoints are dropped. */
const MIGRATIONS = [
  "",
  "",
  `DROP TABLE IF EXISTS entries; DROP TABLE IF EXISTS turns; DROP TABLE IF EXISTS checkpoints; ${SCHEMA}`,
  "ALTER TABLE spans ADD COLUMN long INTEGER NOT NULL DEFAULT 0",
];

export const checkpointFile = (folder: string): string => join(folder, "checkpoints.sqlite");

export type CheckpointStore = ReturnType<typeof openCheckpointStore>;

export function openCheckpointStore(folder: string, maxBytes: number) {
  const database = openDatabase(checkpointFile(folder), "the checkpoints", MIGRATIONS);
  const contents = createContents(database);
  const hasContent = database.prepare("SELECT 1 FROM contents WHERE hash = ?");
  const insertCheckpoint = database.prepare(
    "INSERT INTO checkpoints (at, label, session_id, began) VALUES (?, ?, ?, ?)",
  );
  const end = database.prepare("UPDATE entries SET to_seq = ? WHERE path = ? AND to_seq IS NULL");
  const insert = database.prepare("INSERT INTO entries VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?)");

  /** Retains this many of the newest checkpoints; false when there are no more to remove. */
  const forgetOld = (kept: number): boolean => {
    const oldest = database
      .prepare("SELECT seq FROM checkpoints ORDER BY seq DESC LIMIT 1 OFFSET ?")
      .get(kept - 1);
    if (!oldest) return false;
    const seq = Number(oldest["seq"]);
    if (database.prepare("DELETE FROM checkpoints WHERE seq < ?").run(seq).changes === 0) return false;
    database.prepare("DELETE FROM turns WHERE before_seq < ?").run(seq);
    database.exec("DELETE FROM spans WHERE turn NOT IN (SELECT id FROM turns)");
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
      if (!forgetOld(Math.max(1, Math.floor(count * (1 - EVICTED_SHARE))))) {
        contents.collect();
        break;
      }
      hasForgotten = true;
    }
    return hasForgotten;
  };
  const entries = (where: string, ...values: number[]): Map<Path, SnapshotEntry> =>
    new Map(
      database
        .prepare(
          `SELECT path, kind, mode, hash, omitted, size, mtime AS mtimeMs, ctime AS ctimeMs, ino FROM entries WHERE ${where}`,
        )
        .all(...values)
        // add() wrote it.
        .map(({ path, ...entry }) => [String(path), entry as unknown as SnapshotEntry]),
    );
  // add() wrote it.
  const get = (seq: number) =>
    database.prepare(`${CHECKPOINTS} WHERE seq = ?`).get(seq) as Checkpoint | undefined;

  return {
    contents,
    /** Adds a checkpoint with the changes since the last one. */
    add(
      { at, label, session_id }: Omit<Checkpoint, "seq">,
      changes: readonly StoredChange[],
      began: number,
    ): Checkpoint {
      const { seq, hasForgotten } = inTransaction(database, () => {
        const seq = Number(insertCheckpoint.run(at, label, session_id, began).lastInsertRowid);
        for (const { path, entry } of changes) {
          end.run(seq, path);
          if (!entry) continue;
          const { kind, mode, hash, omitted, size, mtimeMs, ctimeMs, ino } = entry;
          // Another process removed it in between; another attempt reads it again.
          if (kind !== "directory" && hash !== null && !hasContent.get(hash))
            throw new ToolError("LOCKED", "another process is cleaning up the checkpoints; try again", {});
          insert.run(path, seq, kind, mode, hash, omitted, size, mtimeMs, ctimeMs, ino);
        }
        return { seq, hasForgotten: makeRoom() };
      });
      if (hasForgotten) database.exec(`PRAGMA incremental_vacuum(${FREED_PAGES})`);
      return { seq, at, label, session_id };
    },
    get,
    /** The state at a checkpoint; NOT_FOUND when it was removed. */
    snapshotAt(seq: number): Snapshot {
      // Without its ended entries it would look like a state with fewer files.
      if (!get(seq)) {
        const message = `checkpoint ${seq} is no longer stored; 'octant undo --list' shows the stored ones`;
        throw new ToolError("NOT_FOUND", message, {});
      }
      return entries(AT_CHECKPOINT, seq, seq);
    },
    /** The entries that a checkpoint omits. */
    omittedAt: (seq: number): Snapshot => entries(`omitted IS NOT NULL AND ${AT_CHECKPOINT}`, seq, seq),
    /** The newest state and the start time of its snapshot; both empty at first. */
    latest() {
      const row = database.prepare("SELECT seq, began FROM checkpoints ORDER BY seq DESC LIMIT 1").get();
      return {
        snapshot: entries("to_seq IS NULL"),
        began: Number(row?.["began"] ?? 0),
        seq: Number(row?.["seq"] ?? 0),
      };
    },
    beginTurn: ({ label, session_id, before }: Pick<Turn, "label" | "session_id" | "before">): number =>
      Number(
        database
          .prepare("INSERT INTO turns (at, label, session_id, before_seq) VALUES (?, ?, ?, ?)")
          .run(new Date().toISOString(), label, session_id, before).lastInsertRowid,
      ),
    beginSpan: (turn: number, before: number): number =>
      Number(
        database.prepare("INSERT INTO spans (turn, before_seq) VALUES (?, ?)").run(turn, before)
          .lastInsertRowid,
      ),
    /** A span without changes is removed. */
    endSpan(id: number, after: number, isLong: boolean): void {
      database
        .prepare("UPDATE spans SET after_seq = ?, long = ? WHERE id = ?")
        .run(after, isLong ? 1 : 0, id);
      database.prepare("DELETE FROM spans WHERE id = ? AND before_seq = after_seq").run(id);
    },
    /** Oldest first. */
    spans: (turn: number): StoredSpan[] =>
      database
        .prepare(
          "SELECT id, before_seq AS before, after_seq AS after, long FROM spans WHERE turn = ? ORDER BY before_seq",
        )
        .all(turn)
        // beginSpan() and endSpan() wrote it.
        .map((row) => ({ ...(row as unknown as StoredSpan), long: row["long"] === 1 })),
    /** A turn without changes is removed. */
    endTurn(id: number): void {
      const ended = "(SELECT max(after_seq) FROM spans WHERE turn = turns.id)";
      database.prepare(`UPDATE turns SET after_seq = ${ended} WHERE id = ?`).run(id);
      database.prepare("DELETE FROM turns WHERE id = ? AND after_seq IS NULL").run(id);
    },
    markTurn: (id: number, undone: boolean) =>
      void database.prepare("UPDATE turns SET undone = ? WHERE id = ?").run(undone ? 1 : 0, id),
    /** Newest first. */
    turns: (limit: number, session_id: string | null = null): Turn[] =>
      database
        .prepare(`${TURNS} WHERE ?1 IS NULL OR session_id = ?1 ORDER BY id DESC LIMIT ?2`)
        .all(session_id, limit)
        .map(toTurn),
    /** Other turns that worked between the same checkpoints, unless they were undone. */
    alongside: (turn: number): Turn[] =>
      database.prepare(`${TURNS} WHERE undone = 0 AND id IN (${OVERLAPPING})`).all(turn).map(toTurn),
    close: () => database.close(),
  };
}

const AT_CHECKPOINT = "from_seq <= ? AND (to_seq IS NULL OR to_seq > ?)";
const CHECKPOINTS = "SELECT seq, at, label, session_id FROM checkpoints";
const TURNS = "SELECT id, at, label, session_id, before_seq AS before, after_seq AS after, undone FROM turns";

const OVERLAPPING = `
  SELECT other.turn FROM spans AS own JOIN spans AS other ON other.turn <> own.turn
  WHERE own.turn = ? AND other.after_seq > own.before_seq
    AND (own.after_seq IS NULL OR other.before_seq < own.after_seq)`;

// The columns of TURNS, which beginTurn() and endTurn() wrote.
const toTurn = (row: Record<string, unknown>): Turn => ({
  ...(row as unknown as Turn),
  undone: row["undone"] === 1,
});
