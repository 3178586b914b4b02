import type { DatabaseSync } from "node:sqlite";
import { ToolError } from "@octant/core";

const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens a database that several processes share, and brings its tables up to date. Each migration brings it to the
 * next version, which `PRAGMA user_version` counts. Released migrations never change, and later ones only add: a
 * server of an older version may have the same file open. Commits survive a killed process; see `durably` for more.
 */
export function openDatabase(file: string, what: string, migrations: readonly string[]): DatabaseSync {
  // Loaded here because many a server never opens a database.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    db.exec("PRAGMA journal_size_limit = 16777216; PRAGMA foreign_keys = ON");
    migrate(db, what, migrations);
    return db;
  } catch (cause) {
    db.close();
    throw cause;
  }
}

/** All of it or nothing. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (cause) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw cause;
  }
}

/** Commits of the work are on the disk when it returns, and with them all commits before. */
export function durably<T>(db: DatabaseSync, work: () => T): T {
  db.exec("PRAGMA synchronous = FULL");
  try {
    return work();
  } finally {
    db.exec("PRAGMA synchronous = NORMAL");
  }
}

function migrate(db: DatabaseSync, what: string, migrations: readonly string[]): void {
  if (versionOf(db) === migrations.length) return;
  inTransaction(db, () => {
    // Another process may have migrated the file meanwhile.
    const version = versionOf(db);
    if (version > migrations.length) throw tooNew(what);
    for (const sql of migrations.slice(version)) db.exec(sql);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

const versionOf = (db: DatabaseSync): number =>
  Number(db.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);

const tooNew = (what: string) =>
  new ToolError("IO_ERROR", `a newer version of Octant wrote ${what} of this workspace; update Octant`, {});
