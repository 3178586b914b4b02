import type { DatabaseSync, StatementSync } from "node:sqlite";
import { createDatabase, inTransaction, openDatabase } from "../sqlite/database.ts";

const MIGRATIONS = [
  `
  CREATE TABLE artifacts (
    artifact_id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, size INTEGER NOT NULL, mime TEXT NOT NULL,
    creator TEXT NOT NULL, created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE artifact_tags (
    artifact_id TEXT NOT NULL REFERENCES artifacts, tag TEXT NOT NULL, PRIMARY KEY (artifact_id, tag)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX artifacts_by_tag ON artifact_tags (tag, artifact_id);
  CREATE TABLE artifact_parents (
    artifact_id TEXT NOT NULL REFERENCES artifacts, parent_id TEXT NOT NULL REFERENCES artifacts,
    PRIMARY KEY (artifact_id, parent_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX artifacts_by_parent ON artifact_parents (parent_id);
  CREATE TABLE annotations (
    annotation_id TEXT PRIMARY KEY, target TEXT NOT NULL, text TEXT NOT NULL, kind TEXT NOT NULL, author TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX annotations_by_target ON annotations (target, annotation_id);
  CREATE TABLE identities (
    identity_id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE bindings (
    identity_id TEXT NOT NULL REFERENCES identities, target TEXT NOT NULL, PRIMARY KEY (identity_id, target)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX bindings_by_target ON bindings (target);
  CREATE TABLE identity_tags (
    identity_id TEXT NOT NULL REFERENCES identities, tag TEXT NOT NULL, PRIMARY KEY (identity_id, tag)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX identities_by_tag ON identity_tags (tag, identity_id);
  CREATE TABLE connections (
    from_id TEXT NOT NULL REFERENCES identities, to_id TEXT NOT NULL REFERENCES identities, kind TEXT NOT NULL,
    PRIMARY KEY (from_id, to_id, kind)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX connections_by_end ON connections (to_id);
  `,
  `
  CREATE TABLE records (
    record_id TEXT PRIMARY KEY, kind TEXT NOT NULL, owner TEXT NOT NULL, body TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX records_by_owner ON records (kind, owner, record_id);
  `,
];

const RECORDS = "the records of the store tools";

type Parameters = Readonly<Record<string, string | number | null | undefined>>;

export type StoreDatabase = ReturnType<typeof createStoreDatabase>;

/**
 * The records of the store tools, in SQLite, shared by all servers of a workspace. Nothing is opened before the first
 * use. An undefined parameter is NULL.
 */
export function createStoreDatabase(file: () => string) {
  const database = createDatabase<DatabaseSync>({
    what: RECORDS,
    open: () => openDatabase(file(), RECORDS, MIGRATIONS),
    // Every commit is on the disk before its answer.
    onOpen: (db) => db.exec("PRAGMA synchronous = FULL"),
  });
  const query = <T>(
    sql: string,
    parameters: Parameters,
    run: (statement: StatementSync, bound: Row) => T,
  ): T =>
    database.use((db) => {
      const bound = Object.entries(parameters).map(([name, value]) => [name, value ?? null]);
      return run(db.prepare(sql), Object.fromEntries(bound));
    });
  return {
    // The tables are strict, so a row has the types of its columns; `T` names those that the query selects.
    all: <T>(sql: string, parameters: Parameters = {}): T[] =>
      query(sql, parameters, (statement, bound) => statement.all(bound) as T[]),
    get: <T>(sql: string, parameters: Parameters = {}): T | undefined =>
      query(sql, parameters, (statement, bound) => statement.get(bound) as T | undefined),
    /** Returns the number of changed rows. */
    run: (sql: string, parameters: Parameters = {}): number =>
      query(sql, parameters, (statement, bound) => Number(statement.run(bound).changes)),
    /** All of it or nothing, on the disk before it returns. */
    transaction: <T>(work: () => T): T => database.use((db) => inTransaction(db, work)),
    close: database.close,
  };
}

type Row = Record<string, string | number | null>;
