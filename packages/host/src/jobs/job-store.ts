import { renameSync, rmSync } from "node:fs";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { Envelope, Job, JobFilter, JobState, JobStore, Progress } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import { isDamaged, toldAsToolError } from "./database-error.ts";
import { isAlive, thisProcess } from "./process-identity.ts";

/** Results up to this size stay in the row; larger ones go to the blob store. */
const INLINE_RESULT_CHARS = 65_536;
const SWEEP_EVERY_PUTS = 500;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS jobs (
    job_id TEXT PRIMARY KEY, tool TEXT NOT NULL, action TEXT NOT NULL, owner TEXT NOT NULL, state TEXT NOT NULL,
    progress TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    key TEXT, digest TEXT, process TEXT NOT NULL, result TEXT, result_blob TEXT, cancel INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX IF NOT EXISTS jobs_by_key ON jobs (owner, key) WHERE key IS NOT NULL;
  CREATE INDEX IF NOT EXISTS jobs_by_owner ON jobs (owner, job_id);
  CREATE INDEX IF NOT EXISTS jobs_unfinished ON jobs (process) WHERE state IN ('queued', 'running');
`;

/**
 * Jobs in SQLite, shared by all servers of a workspace. Finished jobs take no memory. Nothing is opened before the first
 * use, and that one first sees to the jobs of servers that died.
 */
export function createJobStore(file: string, blobs: Blobs): JobStore & { close(): void } {
  const process = thisProcess();
  let opened: Opened | undefined;
  let puts = 0;

  const use = (): Opened =>
    toldAsToolError(() => {
      if (opened) return opened;
      opened = open(file);
      recover(Date.now());
      return opened;
    });
  // In WAL mode a commit with FULL syncs the log, and with it everything written before.
  const durably = (durable: boolean, write: (db: Opened) => void) => {
    const db = use();
    toldAsToolError(() => {
      if (durable) db.exec("PRAGMA synchronous = FULL");
      write(db);
      if (durable) db.exec("PRAGMA synchronous = NORMAL");
    });
  };
  const finish: JobStore["finish"] = (job, result, { durable }) => {
    const text = result && JSON.stringify(result);
    const small = text === null || text.length <= INLINE_RESULT_CHARS;
    const result_blob = small ? null : blobs.put(Buffer.from(text), { durable });
    durably(durable, (db) =>
      db.finish.run({ ...toRow(job), process, result: small ? text : null, result_blob }),
    );
  };

  const recover = (now: number): number => {
    const db = use();
    db.forget.run({ now });
    const owners = db.unfinished.all().map((row) => String(row["process"]));
    const dead = owners.filter((one) => one !== process && !isAlive(one));
    const lost = dead.flatMap((one) => db.ofProcess.all({ process: one })).flatMap((row) => toJob(row) ?? []);
    for (const job of lost)
      finish({ ...job, state: "failed", updated_at: now }, interrupted(job), { durable: true });
    return lost.length;
  };

  return {
    put(job, { durable }) {
      durably(durable, (db) => db.put.run({ ...toRow(job), process }));
      if (++puts % SWEEP_EVERY_PUTS === 0) use().forget.run({ now: job.updated_at });
    },
    finish,
    get: (owner, job_id) => toJob(use().get.get({ owner, job_id })),
    result(job_id) {
      const row = use().result.get({ job_id });
      const blob = row?.["result_blob"];
      const text = typeof blob === "string" ? blobs.get(blob).toString() : row?.["result"];
      // What `finish` wrote is an envelope.
      return typeof text === "string" ? (JSON.parse(text) as Envelope) : undefined;
    },
    byKey: (owner, key) => toJob(use().byKey.get({ owner, key })),
    list: (filter) =>
      use()
        .list.all(toParameters(filter))
        .flatMap((row) => toJob(row) ?? []),
    together(writes) {
      const db = use();
      toldAsToolError(() => {
        db.exec("BEGIN IMMEDIATE");
        try {
          writes();
          db.exec("COMMIT");
        } catch (cause) {
          // A full disk may have taken all of it back already.
          if (db.inTransaction()) db.exec("ROLLBACK");
          throw cause;
        }
      });
    },
    askToCancel: (job_id) => void use().askToCancel.run({ job_id }),
    isAskedToCancel: (job_id) => use().isAskedToCancel.get({ job_id }) !== undefined,
    recover,
    close() {
      opened?.close();
      opened = undefined;
    },
  };
}

type Opened = ReturnType<typeof open>;

/** A file that is no database any more is set aside: its jobs are lost, but not those to come. */
function open(file: string): ReturnType<typeof openDatabase> {
  try {
    return openDatabase(file);
  } catch (cause) {
    if (!isDamaged(cause)) throw cause;
    renameSync(file, `${file}.damaged-${Date.now()}`);
    for (const side of ["-wal", "-shm"]) rmSync(`${file}${side}`, { force: true });
    return openDatabase(file);
  }
}

function openDatabase(file: string) {
  // Loaded here and not at the top: most servers never start a job.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${SCHEMA}`);
  return {
    ...prepare(db),
    exec: (sql: string) => db.exec(sql),
    inTransaction: () => db.isTransaction,
    close: () => db.close(),
  };
}

const COLUMNS =
  "job_id, tool, action, owner, state, progress, created_at, updated_at, expires_at, key, digest";

const VALUES =
  "$job_id, $tool, $action, $owner, $state, $progress, $created_at, $updated_at, $expires_at, $key, $digest";
const CHANGES = "state = $state, progress = $progress, updated_at = $updated_at, expires_at = $expires_at";

const prepare = (db: DatabaseSync) => ({
  put: db.prepare(`
    INSERT INTO jobs (${COLUMNS}, process) VALUES (${VALUES}, $process)
    ON CONFLICT (job_id) DO UPDATE SET ${CHANGES}`),
  finish: db.prepare(`
    INSERT INTO jobs (${COLUMNS}, process, result, result_blob) VALUES (${VALUES}, $process, $result, $result_blob)
    ON CONFLICT (job_id) DO UPDATE SET ${CHANGES}, result = $result, result_blob = $result_blob`),
  get: db.prepare(`SELECT ${COLUMNS} FROM jobs WHERE owner = $owner AND job_id = $job_id`),
  result: db.prepare("SELECT result, result_blob FROM jobs WHERE job_id = $job_id"),
  byKey: db.prepare(`SELECT ${COLUMNS} FROM jobs WHERE owner = $owner AND key = $key`),
  list: db.prepare(`
    SELECT ${COLUMNS} FROM jobs
    WHERE owner = $owner AND ($state IS NULL OR state = $state) AND ($tool IS NULL OR tool = $tool)
      AND ($since IS NULL OR created_at >= $since) AND ($before IS NULL OR job_id < $before)
    ORDER BY job_id DESC LIMIT $limit`),
  askToCancel: db.prepare("UPDATE jobs SET cancel = 1 WHERE job_id = $job_id"),
  isAskedToCancel: db.prepare("SELECT 1 FROM jobs WHERE job_id = $job_id AND cancel = 1"),
  forget: db.prepare("DELETE FROM jobs WHERE expires_at < $now AND state NOT IN ('queued', 'running')"),
  unfinished: db.prepare("SELECT DISTINCT process FROM jobs WHERE state IN ('queued', 'running')"),
  ofProcess: db.prepare(
    `SELECT ${COLUMNS} FROM jobs WHERE process = $process AND state IN ('queued', 'running')`,
  ),
});

const toRow = (job: Job) => ({ ...job, progress: job.progress && JSON.stringify(job.progress) });

const toParameters = ({ owner, state, tool, since, before, limit }: JobFilter) => ({
  owner,
  state: state ?? null,
  tool: tool ?? null,
  since: since ?? null,
  before: before ?? null,
  limit,
});

type Row = Record<string, SQLOutputValue>;

function toJob(row: Row | undefined): Job | undefined {
  if (!row) return undefined;
  return {
    job_id: String(row["job_id"]),
    tool: String(row["tool"]),
    action: String(row["action"]),
    owner: String(row["owner"]),
    // Only `put` writes states.
    state: String(row["state"]) as JobState,
    progress: row["progress"] === null ? null : (JSON.parse(String(row["progress"])) as Progress),
    created_at: Number(row["created_at"]),
    updated_at: Number(row["updated_at"]),
    expires_at: Number(row["expires_at"]),
    key: row["key"] === null ? null : String(row["key"]),
    digest: row["digest"] === null ? null : String(row["digest"]),
  };
}

const interrupted = ({ tool, action, job_id }: Job): Envelope => ({
  ok: false,
  data: null,
  error: {
    code: "INTERRUPTED",
    message: `the server died while ${job_id} was running; start it again`,
    details: {},
  },
  meta: { tool, action, trace_id: "", paging: { cursor: null, more: false } },
});
