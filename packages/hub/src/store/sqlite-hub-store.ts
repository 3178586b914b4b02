import type { DatabaseSync } from "node:sqlite";
import { ToolError } from "@octant/core";
import { createDatabase, durably, inTransaction, openDatabase } from "@octant/host";
import {
  type EventLog,
  type HubRecord,
  type HubStore,
  type Leases,
  type LoggedEvent,
  type RecordKind,
  type Records,
  refuseFull,
} from "./hub-store.ts";

const WHAT = "the database of the hub";

/** Released migrations never change; see `openDatabase`. */
const MIGRATIONS = [
  `CREATE TABLE records (
     kind TEXT NOT NULL, id TEXT NOT NULL, project_id TEXT NOT NULL, name TEXT,
     created_at TEXT NOT NULL, doc TEXT NOT NULL,
     PRIMARY KEY (kind, id)) STRICT, WITHOUT ROWID;
   CREATE UNIQUE INDEX record_names ON records (kind, project_id, name) WHERE name IS NOT NULL;
   CREATE INDEX records_by_time ON records (kind, project_id, created_at, id);
   CREATE TABLE events (
     log_id TEXT NOT NULL, seq INTEGER NOT NULL, event TEXT NOT NULL,
     PRIMARY KEY (log_id, seq)) STRICT, WITHOUT ROWID;
   CREATE TABLE leases (
     name TEXT PRIMARY KEY, holder TEXT NOT NULL, until_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;`,
] as const;

export interface SqliteHubStoreOptions {
  readonly file: string;
  readonly now?: () => number;
}

/** The state of a hub on one machine, in one file. */
export function openSqliteHubStore({ file, now = Date.now }: SqliteHubStoreOptions): HubStore {
  const database = createDatabase({ what: WHAT, open: () => openDatabase(file, WHAT, MIGRATIONS) });
  const { use } = database;
  // A newer database, or a damaged one, is reported at the start.
  use(() => {});
  const events = createEventLog(use);
  return {
    records: (kind) => createRecords(use, kind),
    events,
    leases: createLeases(use, now),
    async *dump() {
      // Its own connection: a transaction of this one would hold up the others.
      const db = openDatabase(file, WHAT, MIGRATIONS);
      try {
        db.exec("BEGIN");
        // Only these kinds are stored.
        for (const row of db.prepare("SELECT kind, doc FROM records ORDER BY kind, created_at, id").iterate())
          yield { kind: String(row["kind"]) as RecordKind, record: JSON.parse(String(row["doc"])) };
        for (const row of db.prepare("SELECT log_id, event FROM events ORDER BY log_id, seq").iterate())
          yield { log_id: String(row["log_id"]), event: JSON.parse(String(row["event"])) };
      } finally {
        db.close();
      }
    },
    async load(rows) {
      const db = openDatabase(file, WHAT, MIGRATIONS);
      try {
        db.exec("BEGIN IMMEDIATE");
        refuseFull(Number(db.prepare("SELECT count(*) AS count FROM records").get()?.["count"]));
        for await (const row of rows)
          if ("record" in row) writeRecord(db, row.kind, row.record);
          else
            db.prepare("INSERT INTO events VALUES (?, ?, ?)").run(
              row.log_id,
              row.event.seq,
              JSON.stringify(row.event),
            );
        db.exec("COMMIT");
      } finally {
        db.close();
      }
    },
    async close() {
      events.flush();
      database.close();
    },
  };
}

type Use = <R>(work: (db: DatabaseSync) => R) => R;

/** Records without a project are stored below the empty one, so that their names are unique, too. */
const NO_PROJECT = "";

const createRecords = <T extends HubRecord>(use: Use, kind: RecordKind): Records<T> => {
  // `add` and `change` are the only writers, so the text is a T.
  const parse = (row: Record<string, unknown>): T => JSON.parse(String(row["doc"])) as T;
  const find = (db: DatabaseSync, id: string): T | undefined => {
    const row = db.prepare("SELECT doc FROM records WHERE kind = ? AND id = ?").get(kind, id);
    return row && parse(row);
  };
  const write = (db: DatabaseSync, record: T) => writeRecord(db, kind, record);
  return {
    get: async (id) => use((db) => find(db, id)),
    list: async ({ project_id, id_prefix, limit = -1 } = {}) =>
      use((db) =>
        db
          .prepare(
            // Two queries in one would use neither index.
            `SELECT doc FROM records WHERE kind = ?1
             ${project_id === undefined ? "" : "AND project_id = ?2"}
             ${id_prefix === undefined ? "" : "AND id >= ?3 AND id < ?3 || char(1114111)"}
             ORDER BY created_at DESC, id DESC LIMIT ?4`,
          )
          .all({
            "?1": kind,
            ...(project_id !== undefined && { "?2": project_id }),
            ...(id_prefix !== undefined && { "?3": id_prefix }),
            "?4": limit,
          })
          .map(parse),
      ),
    add: async (record) => use((db) => durably(db, () => write(db, record))),
    change: async (id, change) =>
      use((db) =>
        durably(db, () =>
          inTransaction(db, () => {
            const found = find(db, id);
            if (!found) return undefined;
            const changed = change(found);
            db.prepare("DELETE FROM records WHERE kind = ? AND id = ?").run(kind, id);
            write(db, changed);
            return changed;
          }),
        ),
      ),
    remove: async (id) =>
      use((db) =>
        durably(
          db,
          () => db.prepare("DELETE FROM records WHERE kind = ? AND id = ?").run(kind, id).changes > 0,
        ),
      ),
  };
};

function writeRecord(db: DatabaseSync, kind: RecordKind, record: HubRecord): void {
  const { id, project_id = NO_PROJECT, name = null, created_at } = record;
  try {
    db.prepare("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)").run(
      kind,
      id,
      project_id,
      name,
      created_at,
      JSON.stringify(record),
    );
  } catch (cause) {
    if (!isConstraint(cause)) throw cause;
    const message = `there is already a ${kind} named '${name ?? id}'; choose another name`;
    throw new ToolError("ALREADY_EXISTS", message, { uri: `${kind}:${name ?? id}` }, { cause });
  }
}

/** An event that waits for the next commit. */
interface Waiting {
  readonly log_id: string;
  readonly event: LoggedEvent;
  resolve(): void;
  reject(cause: unknown): void;
}

const createEventLog = (use: Use): EventLog & { flush(): void } => {
  const listeners = new Set<(log_id: string) => void>();
  let waiting: Waiting[] = [];
  /** The error of each event that was not stored; undefined when nothing could be stored. */
  const commit = (all: readonly Waiting[]): readonly (ToolError | undefined)[] | undefined => {
    try {
      const problems = use((db) =>
        durably(db, () =>
          inTransaction(db, () => all.map(({ log_id, event }) => addEvent(db, log_id, event))),
        ),
      );
      for (const [n, problem] of problems.entries()) if (problem) all[n]?.reject(problem);
      return problems;
    } catch (cause) {
      for (const { reject } of all) reject(cause);
      return undefined;
    }
  };
  /** The disk takes milliseconds for a commit, and nothing else runs meanwhile, so all events of a turn share one. */
  const flush = () => {
    const all = waiting;
    waiting = [];
    if (all.length === 0) return;
    const problems = commit(all);
    for (const [n, { log_id, resolve }] of all.entries()) {
      if (!problems || problems[n]) continue;
      resolve();
      for (const listener of listeners) listener(log_id);
    }
  };
  return {
    flush,
    append(log_id, event) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.push({ log_id, event, resolve, reject });
      if (waiting.length === 1) setImmediate(flush);
      return promise;
    },
    read: async (log_id, after, limit) =>
      use((db) =>
        db
          .prepare("SELECT event FROM events WHERE log_id = ? AND seq > ? ORDER BY seq LIMIT ?")
          .all(log_id, after, limit)
          // `append` is the only writer.
          .map((row) => JSON.parse(String(row["event"])) as LoggedEvent),
      ),
    last: async (log_id) => use((db) => lastOf(db, log_id)),
    ids: async () =>
      use((db) =>
        db
          .prepare("SELECT DISTINCT log_id FROM events")
          .all()
          .map((row) => String(row["log_id"])),
      ),
    remove: async (log_id) => use((db) => void db.prepare("DELETE FROM events WHERE log_id = ?").run(log_id)),
    // One hub at a time uses the file, so all writers are here.
    async watch(listener) {
      listeners.add(listener);
      return {
        async [Symbol.asyncDispose]() {
          listeners.delete(listener);
        },
      };
    },
  };
};

/** Why it was not added: it is not the next one of its log. */
function addEvent(db: DatabaseSync, log_id: string, event: LoggedEvent): ToolError | undefined {
  const added = db
    .prepare(
      `INSERT INTO events SELECT ?1, ?2, ?3
       WHERE ?2 = 1 + (SELECT coalesce(max(seq), 0) FROM events WHERE log_id = ?1)`,
    )
    .run(log_id, event.seq, JSON.stringify(event));
  if (added.changes > 0) return undefined;
  const actual = String(lastOf(db, log_id) + 1);
  const message = `another hub writes to ${log_id}: its next event is number ${actual}, not ${event.seq}`;
  return new ToolError("CONFLICT", message, { expected: String(event.seq), actual });
}

const lastOf = (db: DatabaseSync, log_id: string): number =>
  Number(db.prepare("SELECT max(seq) AS seq FROM events WHERE log_id = ?").get(log_id)?.["seq"] ?? 0);

const createLeases = (use: Use, now: () => number): Leases => ({
  take: async (name, holder, ms) =>
    use(
      (db) =>
        db
          .prepare(
            `INSERT INTO leases VALUES (?1, ?2, ?3)
             ON CONFLICT (name) DO UPDATE SET holder = ?2, until_ms = ?3
             WHERE holder = ?2 OR until_ms <= ?4`,
          )
          .run(name, holder, now() + ms, now()).changes > 0,
    ),
  release: async (name, holder) =>
    use((db) => void db.prepare("DELETE FROM leases WHERE name = ? AND holder = ?").run(name, holder)),
});

const SQLITE_CONSTRAINT = 19;

const isConstraint = (cause: unknown): boolean =>
  cause instanceof Error && "errcode" in cause && (Number(cause.errcode) & 0xff) === SQLITE_CONSTRAINT;
