import type { DatabaseSync } from "node:sqlite";
import { ToolError } from "@octant/core";

/**
 * Each entry brings the database to the next version; `PRAGMA user_version` counts them. Entries never change once
 * released, and only add: servers of an older version may have the same file open.
 */
const MIGRATIONS = [
  `CREATE TABLE IF NOT EXISTS jobs (
    job_id TEXT PRIMARY KEY, tool TEXT NOT NULL, action TEXT NOT NULL, owner TEXT NOT NULL, state TEXT NOT NULL,
    progress TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    key TEXT, digest TEXT, process TEXT NOT NULL, result TEXT, result_blob TEXT, cancel INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX IF NOT EXISTS jobs_by_key ON jobs (owner, key) WHERE key IS NOT NULL;
  CREATE INDEX IF NOT EXISTS jobs_by_owner ON jobs (owner, job_id);
  CREATE INDEX IF NOT EXISTS jobs_unfinished ON jobs (process) WHERE state IN ('queued', 'running');`,
  // The call as data, and an order that does not depend on the clock.
  `ALTER TABLE jobs ADD COLUMN input TEXT;
  ALTER TABLE jobs ADD COLUMN caller TEXT;
  ALTER TABLE jobs ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX jobs_by_order ON jobs (seq);
  CREATE INDEX jobs_queued ON jobs (seq) WHERE state = 'queued' AND process = '';`,
];

export function migrate(db: DatabaseSync): void {
  if (versionOf(db) === MIGRATIONS.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have migrated the file meanwhile.
    const version = versionOf(db);
    if (version > MIGRATIONS.length) throw tooNew();
    for (const sql of MIGRATIONS.slice(version)) db.exec(sql);
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`);
  } catch (cause) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw cause;
  }
}

const versionOf = (db: DatabaseSync): number =>
  Number(db.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);

const tooNew = () =>
  new ToolError("IO_ERROR", "a newer version of Octant wrote the jobs of this workspace; update Octant", {});
