import { existsSync } from "node:fs";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { Caller, Envelope, Job, JobFilter, JobStore, JobWrite, Progress } from "@octant/core";
import { createDatabase, durably, openDatabase, setAside } from "../sqlite/database.ts";
import { isAlive, thisProcess } from "./process-identity.ts";

const SWEEP_EVERY_ADDS = 500;
const WHAT = "the list of jobs";
/** In the column `process`: any process may claim the job. */
const OPEN = "";

/**
 * Jobs in SQLite, shared by all servers of a workspace; finished jobs take no memory. The first use opens the file
 * and fails the jobs of dead servers. `warn` is called when a damaged file was set aside.
 */
export function createJobStore(
  file: string,
  warn: (message: string) => void = () => {},
): JobStore & { close(): void } {
  const process = thisProcess();
  let adds = 0;

  const jobs = createDatabase({
    what: WHAT,
    open: () => openJobs(file),
    onOpen: (db) => recover(db, Date.now()),
    onDamage() {
      const aside = setAside(file);
      if (aside)
        warn(
          `the list of jobs was damaged; a new one was started, and the damaged file was moved to ${aside}`,
        );
    },
  });
  const query = async <T>(work: (db: Opened) => T): Promise<T> => jobs.use(work);
  const write = <T>(db: Opened, durable: boolean, work: () => T): T =>
    durable ? durably(db.database, work) : work();
  const finish = (db: Opened, job: Job, result: Envelope | null, durable: boolean) => {
    const row = { ...toRow(job), input: null, process, result: result && JSON.stringify(result) };
    write(db, durable, () => db.finish.run(row));
  };
  const recover = (db: Opened, now: number): number => {
    db.deleteExpired.run({ now });
    const owners = db.unfinished.all().map((row) => String(row["process"]));
    const dead = owners.filter((one) => one !== OPEN && one !== process && !isAlive(one));
    const lost = dead.flatMap((one) => db.ofProcess.all({ process: one })).flatMap((row) => toJob(row) ?? []);
    for (const job of lost)
      finish(db, { ...job, state: "failed", updated_at: now }, toInterrupted(job), true);
    return lost.length;
  };
  const holderOf = (job: Job, { isOpen }: JobWrite) => (isOpen && job.state === "queued" ? OPEN : process);

  return {
    add: (job, options) =>
      query((db) => {
        const row = { ...toRow(job), process: holderOf(job, options) };
        const { changes } = write(db, options.durable, () => db.add.run(row));
        if (++adds % SWEEP_EVERY_ADDS === 0) db.deleteExpired.run({ now: job.updated_at });
        // No change: the caller has a job with this key.
        return changes === 1 ? job : (toJob(db.byKey.get({ owner: job.caller.id, key: job.key })) ?? job);
      }),
    update: (job, options) =>
      query((db) => {
        const row = { ...toRow(job), process: holderOf(job, options) };
        write(db, options.durable, () => db.update.run(row));
      }),
    claim: async (which, now) => {
      // A server that has never had a job does not load SQLite to look for one.
      if (!existsSync(file)) return undefined;
      return query((db) => {
        if ("job_id" in which) return toJob(db.claim.get({ job_id: which.job_id, process, now }));
        if (db.hasOthers.get({ process })) recover(db, now);
        return toJob(db.claimNext.get({ tools: JSON.stringify(which.tools), process, now }));
      });
    },
    finish: (job, result, { durable }) => query((db) => finish(db, job, result, durable)),
    get: (owner, job_id) => query((db) => toJob(db.get.get({ owner, job_id }))),
    result: (job_id) =>
      query((db) => {
        const text = db.result.get({ job_id })?.["result"];
        // `finish` writes envelopes only.
        return typeof text === "string" ? (JSON.parse(text) as Envelope) : undefined;
      }),
    list: (filter) => query((db) => db.list.all(toParameters(filter)).flatMap((row) => toJob(row) ?? [])),
    requestCancel: (job_id) => query((db) => void db.requestCancel.run({ job_id })),
    isCancelRequested: (job_id) => query((db) => db.isCancelRequested.get({ job_id }) !== undefined),
    recover: (now) => query((db) => recover(db, now)),
    close: jobs.close,
  };
}

type Opened = ReturnType<typeof openJobs>;

/** The versions of the table of jobs. */
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

function openJobs(file: string) {
  const database = openDatabase(file, WHAT, MIGRATIONS);
  return { ...prepare(database), database, close: () => database.close() };
}

const COLUMNS =
  "job_id, tool, action, owner, caller, input, state, progress, created_at, updated_at, expires_at, key, digest";
const VALUES = COLUMNS.replace(/\w+/g, "$$$&");
const CHANGES = "state = $state, progress = $progress, updated_at = $updated_at, expires_at = $expires_at";
const NEXT_SEQ = "(SELECT coalesce(max(seq), 0) + 1 FROM jobs)";
const INSERT = `INSERT INTO jobs (${COLUMNS}, process, seq) VALUES (${VALUES}, $process, ${NEXT_SEQ})`;
const CLAIM = "UPDATE jobs SET state = 'running', process = $process, updated_at = $now";

const prepare = (db: DatabaseSync) => ({
  add: db.prepare(`${INSERT} ON CONFLICT DO NOTHING`),
  update: db.prepare(`${INSERT} ON CONFLICT (job_id) DO UPDATE SET ${CHANGES}, process = $process`),
  finish: db.prepare(`
    INSERT INTO jobs (${COLUMNS}, process, seq, result) VALUES (${VALUES}, $process, ${NEXT_SEQ}, $result)
    ON CONFLICT (job_id) DO UPDATE SET ${CHANGES}, input = NULL, result = $result`),
  claim: db.prepare(`
    ${CLAIM} WHERE job_id = $job_id AND state = 'queued' AND process IN ('', $process) RETURNING ${COLUMNS}`),
  claimNext: db.prepare(`
    ${CLAIM} WHERE job_id = (
      SELECT job_id FROM jobs WHERE state = 'queued' AND process = ''
        AND tool IN (SELECT value FROM json_each($tools)) ORDER BY seq LIMIT 1)
    RETURNING ${COLUMNS}`),
  get: db.prepare(
    `SELECT ${COLUMNS} FROM jobs WHERE job_id = $job_id AND ($owner IS NULL OR owner = $owner)`,
  ),
  result: db.prepare("SELECT result FROM jobs WHERE job_id = $job_id"),
  byKey: db.prepare(`SELECT ${COLUMNS} FROM jobs WHERE owner = $owner AND key = $key`),
  list: db.prepare(`
    SELECT ${COLUMNS} FROM jobs
    WHERE ($owner IS NULL OR owner = $owner) AND ($state IS NULL OR state = $state) AND ($tool IS NULL OR tool = $tool)
      AND ($since IS NULL OR created_at >= $since)
      AND ($before IS NULL OR (seq, job_id) < (SELECT seq, job_id FROM jobs WHERE job_id = $before))
    ORDER BY seq DESC, job_id DESC LIMIT $limit`),
  requestCancel: db.prepare("UPDATE jobs SET cancel = 1 WHERE job_id = $job_id"),
  isCancelRequested: db.prepare("SELECT 1 FROM jobs WHERE job_id = $job_id AND cancel = 1"),
  deleteExpired: db.prepare(
    "DELETE FROM jobs WHERE expires_at < $now AND state NOT IN ('queued', 'running')",
  ),
  unfinished: db.prepare("SELECT DISTINCT process FROM jobs WHERE state IN ('queued', 'running')"),
  hasOthers: db.prepare(
    "SELECT 1 FROM jobs WHERE state IN ('queued', 'running') AND process NOT IN ('', $process) LIMIT 1",
  ),
  ofProcess: db.prepare(
    `SELECT ${COLUMNS} FROM jobs WHERE process = $process AND state IN ('queued', 'running')`,
  ),
});

const toRow = ({ caller, input, progress, ...job }: Job) => ({
  ...job,
  owner: caller.id,
  caller: JSON.stringify(caller),
  input: input === null ? null : JSON.stringify(input),
  progress: progress && JSON.stringify(progress),
});

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
  const { owner, caller, input, progress, ...fields } = row;
  return {
    // The table is strict, and only `toRow` writes these columns.
    ...(fields as unknown as Omit<Job, "caller" | "input" | "progress">),
    // Version 1 did not store the caller, and a job without one cannot be claimed.
    caller: caller ? (JSON.parse(String(caller)) as Caller) : { id: String(owner), access: "read" },
    input: input ? JSON.parse(String(input)) : null,
    progress: progress ? (JSON.parse(String(progress)) as Progress) : null,
  };
}

const toInterrupted = ({ tool, action, job_id }: Job): Envelope => ({
  ok: false,
  data: null,
  error: {
    code: "INTERRUPTED",
    message: `the server died while ${job_id} was running; start it again`,
    details: {},
  },
  meta: { tool, action, trace_id: "", paging: { cursor: null, more: false } },
});
