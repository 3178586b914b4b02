/** The versions of the table of jobs. */
export const MIGRATIONS = [
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
