import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createJobEvents,
  createJobs,
  type Envelope,
  type JobRequest,
  type Jobs,
  PATIENCE_MS,
  ToolError,
} from "@octant/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { damagePages } from "../../testing/jobs/damage-pages.ts";
import { systemClock } from "./clock.ts";
import { createJobStore } from "./job-store.ts";

let folder: string;
let store: ReturnType<typeof createJobStore>;
let jobs: Jobs;

let warnings: string[];
const open = () => {
  warnings = [];
  store = createJobStore(join(folder, "jobs.sqlite"), (message) => warnings.push(message));
  jobs = createJobs({ store, clock: systemClock, events: createJobEvents() });
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-jobs-"));
  open();
});
afterEach(async () => {
  await jobs.close();
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const meta = { tool: "t", action: "a", trace_id: "", paging: { cursor: null, more: false } };
const success = (data: unknown): Envelope => ({ ok: true, data, error: null, meta });
const failure = (code: "CANCELLED" | "NO_SPACE"): Envelope => ({
  ok: false,
  data: null,
  error: { code, message: "", details: {} },
  meta,
});
const untilAborted = (signal: AbortSignal) =>
  new Promise<Envelope>((end) =>
    signal.addEventListener("abort", () => end(failure("CANCELLED")), { once: true }),
  );

const ME = { id: "me", access: "write" } as const;

const request = (work: JobRequest["work"], more: Partial<JobRequest> = {}): JobRequest => ({
  tool: "t",
  action: "a",
  input: {},
  caller: ME,
  patienceMs: 30_000,
  signal: new AbortController().signal,
  work,
  ...more,
});

test("work that ends in time returns its outcome, and only the job is stored", async () => {
  const { result, job } = await jobs.run(request(async () => success(1)));
  expect(result).toEqual(success(1));
  expect(await jobs.get("me", job.job_id)).toMatchObject({ state: "complete", caller: ME });
  expect(await jobs.result("me", job.job_id)).toBeUndefined();
});

test("work that takes longer is answered with its job, whose result comes later", async () => {
  let finish = (_: Envelope) => {};
  const { result, job } = await jobs.run(
    request(() => new Promise((end) => (finish = end)), { patienceMs: 0 }),
  );
  expect(result).toBeNull();
  expect((await jobs.get("me", job.job_id)).state).toBe("running");
  const { signal } = new AbortController();
  const waiting = jobs.ended("me", job.job_id, 30_000, signal, jobs.events.nextSeq);
  finish(success("late"));
  expect((await waiting).state).toBe("complete");
  expect(await jobs.result("me", job.job_id)).toEqual(success("late"));
});

test("a wait for an event stops listening: with the event, when its time is up, and when its caller leaves", async () => {
  const { job } = await jobs.run(request(({ signal }) => untilAborted(signal), { patienceMs: 0 }));
  const before = jobs.events.listenerCount;
  const { signal } = new AbortController();
  await jobs.ended("me", job.job_id, 30_000, signal, 0);
  await jobs.ended("me", job.job_id, 0, signal, jobs.events.nextSeq);
  await jobs.ended("me", job.job_id, 30_000, AbortSignal.abort(), jobs.events.nextSeq);
  expect(jobs.events.listenerCount).toBe(before);
});

test("work that detaches is answered with its job at once", async () => {
  const { result, job } = await jobs.run(
    request(({ detach, signal }) => {
      detach();
      return untilAborted(signal);
    }),
  );
  expect(result).toBeNull();
  expect(job.state).toBe("running");
});

test("a caller that requests a job learns of an immediate failure at once, and of nothing else", async () => {
  const patienceMs = PATIENCE_MS.async_long;
  const failed = await jobs.run(request(async () => failure("NO_SPACE"), { patienceMs }));
  expect(failed.result).toEqual(failure("NO_SPACE"));
  const done = await jobs.run(request(async () => success("quick"), { patienceMs }));
  expect(done).toMatchObject({ result: null, job: { state: "complete" } });
  expect(await jobs.result("me", done.job.job_id)).toEqual(success("quick"));
  const running = await jobs.run(request(({ signal }) => untilAborted(signal), { patienceMs }));
  expect(running).toMatchObject({ result: null, job: { state: "running" } });
});

test("a job is stored as data before it runs, and its input is deleted when it ends", async () => {
  const { job } = await jobs.run(
    request(
      async ({ job_id }) => {
        const stored = await store.get("me", job_id);
        expect(stored).toMatchObject({ state: "running", tool: "t", input: { path: "x" }, caller: ME });
        return success(1);
      },
      { input: { path: "x" } },
    ),
  );
  expect(await store.get("me", job.job_id)).toMatchObject({ state: "complete", input: null });
});

test("a job that was never announced is found by other processes while it runs", async () => {
  const caller = new AbortController();
  const answer = jobs.run(request(({ signal }) => untilAborted(signal), { signal: caller.signal }));
  const running = () => store.list({ owner: "me", state: "running", limit: 10 });
  await expect.poll(running).toHaveLength(1);
  caller.abort();
  await answer;
  await jobs.close();
  expect(await running()).toEqual([]);
});

test("a failure is found by listing the failed", async () => {
  await jobs.run(request(async () => failure("NO_SPACE"), { patienceMs: 0 }));
  await jobs.close();
  expect(await jobs.list({ owner: "me", state: "failed", limit: 10 })).toHaveLength(1);
  expect(await jobs.list({ owner: "me", state: "complete", limit: 10 })).toEqual([]);
});

test("cancelling ends the work and resolves when it has ended", async () => {
  const { job } = await jobs.run(request(({ signal }) => untilAborted(signal), { patienceMs: 0 }));
  expect((await jobs.cancel("me", job.job_id)).state).toBe("cancelled");
  expect((await jobs.cancel("me", job.job_id)).state).toBe("cancelled");
});

test("a caller that goes away before it knows the job ends the work", async () => {
  const caller = new AbortController();
  const answer = jobs.run(
    request(
      ({ signal }) => {
        queueMicrotask(() => caller.abort());
        return untilAborted(signal);
      },
      { signal: caller.signal },
    ),
  );
  expect((await answer).job.state).toBe("cancelled");
});

test("another caller's job does not exist", async () => {
  const { job } = await jobs.run(request(async () => success(1)));
  for (const use of [jobs.get.bind(jobs), jobs.result.bind(jobs)])
    await expect(use("you", job.job_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(jobs.cancel("you", job.job_id)).rejects.toBeInstanceOf(ToolError);
  expect(await jobs.list({ owner: "you", limit: 10 })).toEqual([]);
});

test("the same key of the same owner is the same job, running or done", async () => {
  let runs = 0;
  const work = async () => success(++runs);
  const first = await jobs.run(request(work, { key: "k" }));
  const again = await jobs.run(request(work, { key: "k" }));
  expect([runs, again.job.job_id, again.result]).toEqual([1, first.job.job_id, success(1)]);
  await jobs.run(request(work, { key: "k", caller: { ...ME, id: "you" } }));
  expect(runs).toBe(2);
  const slow = request(({ signal }) => untilAborted(signal), { key: "slow", patienceMs: 0 });
  expect((await jobs.run(slow)).job.job_id).toBe((await jobs.run(slow)).job.job_id);
});

test("a key that belongs to another call is refused", async () => {
  await jobs.run(request(async () => success(1), { key: "k", input: { n: 1 } }));
  await expect(
    jobs.run(request(async () => success(2), { key: "k", input: { n: 2 } })),
  ).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
  });
  await expect(
    jobs.run(request(async () => success(2), { key: "k", input: { n: 1 }, tool: "u" })),
  ).rejects.toThrow("another call");
});

test("a job of another process of the workspace is waited for and cancelled through the store", async () => {
  const { job } = await jobs.run(request(({ signal }) => untilAborted(signal), { patienceMs: 0 }));
  const theirStore = createJobStore(join(folder, "jobs.sqlite"));
  const theirs = createJobs({ store: theirStore, clock: systemClock, events: createJobEvents() });
  const waiting = theirs.ended("me", job.job_id, 30_000, new AbortController().signal);
  expect((await theirs.cancel("me", job.job_id)).state).toBe("cancelled");
  expect((await waiting).state).toBe("cancelled");
  theirStore.close();
});

test("another process cancels a job also while the caller still waits for its result", async () => {
  const answer = jobs.run(request(({ signal }) => untilAborted(signal)));
  const theirStore = createJobStore(join(folder, "jobs.sqlite"));
  const theirs = createJobs({ store: theirStore, clock: systemClock, events: createJobEvents() });
  const [job] = await theirs.list({ owner: "me", limit: 1 });
  expect((await theirs.cancel("me", job?.job_id ?? "")).state).toBe("cancelled");
  expect((await answer).result).toMatchObject({ error: { code: "CANCELLED" } });
  theirStore.close();
});

test("progress and log lines are numbered events, and progress is stored with the job", async () => {
  const { job } = await jobs.run(
    request(async ({ emit }) => {
      emit({ kind: "log", line: "hello" });
      emit({ kind: "progress", progress: 1, total: 2 });
      return success(1);
    }),
  );
  const { events } = jobs.events.read(0, ({ job_id }) => job_id === job.job_id);
  expect(events.map(({ value }) => (value.type === "chunk" ? value.chunk.kind : value.type))).toEqual([
    "start",
    "log",
    "progress",
    "end",
  ]);
  expect((await jobs.get("me", job.job_id)).progress).toEqual({ progress: 1, total: 2 });
});

test("a large result comes back whole", async () => {
  const data = "x".repeat(1_000_000);
  const { job } = await jobs.run(request(async () => success(data), { key: "large" }));
  expect(await jobs.result("me", job.job_id)).toEqual(success(data));
});

test("jobs come newest first, page by page", async () => {
  const added: string[] = [];
  for (let i = 0; i < 7; i++) added.unshift((await jobs.run(request(async () => success(i)))).job.job_id);
  const all = (await jobs.list({ owner: "me", limit: 100 })).map(({ job_id }) => job_id);
  expect(all).toEqual(added);
  const first = await jobs.list({ owner: "me", limit: 3 });
  const rest = await jobs.list({ owner: "me", limit: 100, before: first.at(-1)?.job_id as string });
  expect([...first, ...rest].map(({ job_id }) => job_id)).toEqual(all);
});

test("the jobs of a dead server have failed with INTERRUPTED; live ones are left alone", async () => {
  const { job: mine } = await jobs.run(request(({ signal }) => untilAborted(signal), { patienceMs: 0 }));
  const died = spawnSync(
    process.execPath,
    ["--input-type=module-typescript", "-e", DYING, import.meta.dirname, folder],
    { encoding: "utf8" },
  );
  expect(died.signal).toBe("SIGKILL");
  const lost = died.stdout.trim();
  expect((await jobs.get("me", lost)).state).toBe("running");
  expect(await store.recover(Date.now())).toBe(1);
  expect((await jobs.get("me", lost)).state).toBe("failed");
  expect((await jobs.result("me", lost))?.error?.code).toBe("INTERRUPTED");
  expect((await jobs.get("me", mine.job_id)).state).toBe("running");
});

const DYING = `
const [here, folder] = process.argv.slice(1);
const { createJobEvents, createJobs } = await import("@octant/core");
const { createJobStore } = await import(here + "/job-store.ts");
const { systemClock } = await import(here + "/clock.ts");
const store = createJobStore(folder + "/jobs.sqlite");
const jobs = createJobs({ store, clock: systemClock, events: createJobEvents() });
const { job } = await jobs.run({ tool: "t", action: "a", input: {}, caller: { id: "me", access: "write" }, patienceMs: 0, signal: new AbortController().signal, work: () => new Promise(() => {}) });
process.stdout.write(job.job_id, () => process.kill(process.pid, "SIGKILL"));
`;

test("a file that is not a database is set aside, and the store starts empty", async () => {
  store.close();
  writeFileSync(
    join(folder, "jobs.sqlite"),
    "this is not a database, and long enough to be noticed as such".repeat(100),
  );
  open();
  const { job } = await jobs.run(request(async () => success(1)));
  expect((await jobs.get("me", job.job_id)).state).toBe("complete");
  expect(readdirSync(folder).some((name) => name.startsWith("jobs.sqlite.damaged-"))).toBe(true);
});

test("damaged pages found by a query are reported, and another server keeps the new file", async () => {
  for (let n = 0; n < 60; n++) await jobs.run(request(async () => success("x".repeat(1_000))));
  store.close();
  const file = join(folder, "jobs.sqlite");
  const other = createJobStore(file, (message) => warnings.push(message));
  expect(await other.list({ owner: "me", limit: 1 })).toHaveLength(1);
  damagePages(file);
  open();
  const { job } = await jobs.run(request(async () => success(1)));
  expect((await jobs.get("me", job.job_id)).state).toBe("complete");
  expect(await other.list({ owner: "me", limit: 100 })).toEqual([
    expect.objectContaining({ job_id: job.job_id }),
  ]);
  expect(warnings).toEqual([expect.stringMatching(/^the list of jobs was damaged; a new one was started/)]);
  other.close();
});

test("where jobs cannot be stored, quick work is still answered and long work is refused", async () => {
  store.close();
  rmSync(join(folder, "jobs.sqlite"), { force: true });
  mkdirSync(join(folder, "jobs.sqlite"));
  open();
  expect((await jobs.run(request(async () => success(1)))).result).toEqual(success(1));
  await expect(
    jobs.run(request(({ signal }) => untilAborted(signal), { patienceMs: 0 })),
  ).rejects.toMatchObject({
    code: "IO_ERROR",
  });
});

test("expired jobs are forgotten", async () => {
  const { job } = await jobs.run(request(async () => success(1)));
  expect(await jobs.list({ owner: "me", limit: 10 })).toHaveLength(1);
  await store.recover(job.expires_at + 25 * 60 * 60 * 1000);
  expect(await jobs.list({ owner: "me", limit: 10 })).toEqual([]);
});

test("a job whose caller asked for a shorter time to live is forgotten earlier than the others", async () => {
  const short = await jobs.run(request(async () => success(1), { ttlMs: 60_000 }));
  const usual = await jobs.run(request(async () => success(2)));
  const stored = await jobs.get("me", short.job.job_id);
  expect(stored.expires_at - stored.updated_at).toBe(60_000);
  await store.recover(stored.expires_at + 1);
  const left = await jobs.list({ owner: "me", limit: 10 });
  expect(left.map(({ job_id }) => job_id)).toEqual([usual.job.job_id]);
});

test("the end of a job that its caller knows of is stored as soon as the store takes it", async () => {
  let [fails, tried] = [true, 0];
  const failing: typeof store = {
    ...store,
    async finish(...end) {
      tried += 1;
      if (fails) throw new ToolError("NO_SPACE", "the disk is full", {});
      await store.finish(...end);
    },
  };
  const again = Promise.withResolvers<void>();
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal: AbortSignal) => (tried === 0 ? systemClock.sleep(ms, signal) : again.promise),
  };
  const others = createJobs({ store: failing, clock, events: createJobEvents() });
  let finish = (_: Envelope) => {};
  const { job } = await others.run(request(() => new Promise((end) => (finish = end)), { patienceMs: 0 }));
  finish(success("kept"));
  await expect.poll(() => tried).toBe(1);
  expect((await others.get("me", job.job_id)).state).toBe("running");
  fails = false;
  again.resolve();
  await expect.poll(async () => (await others.get("me", job.job_id)).state).toBe("complete");
  expect(await others.result("me", job.job_id)).toEqual(success("kept"));
  await others.close();
});

test("closing does not wait for a store that never takes an end", async () => {
  const failing: typeof store = {
    ...store,
    async finish() {
      throw new ToolError("NO_SPACE", "the disk is full", {});
    },
  };
  const others = createJobs({ store: failing, clock: systemClock, events: createJobEvents() });
  const { job } = await others.run(request(({ signal }) => untilAborted(signal), { patienceMs: 0 }));
  await others.close();
  expect((await store.get("me", job.job_id))?.state).toBe("running");
});

test("a database of the first version is migrated, and one of a later version is refused", async () => {
  const { DatabaseSync } = await import("node:sqlite");
  const file = join(folder, "jobs.sqlite");
  store.close();
  rmSync(file, { force: true });
  const old = new DatabaseSync(file);
  old.exec(`CREATE TABLE jobs (
    job_id TEXT PRIMARY KEY, tool TEXT NOT NULL, action TEXT NOT NULL, owner TEXT NOT NULL, state TEXT NOT NULL,
    progress TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    key TEXT, digest TEXT, process TEXT NOT NULL, result TEXT, result_blob TEXT, cancel INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  INSERT INTO jobs VALUES ('job_1', 't', 'a', 'me', 'complete', NULL, 1, 1, ${Date.now() + 60_000}, NULL, NULL, '1:1',
    NULL, NULL, 0)`);
  old.close();
  open();
  const { job } = await jobs.run(request(async () => success(1)));
  expect((await jobs.list({ owner: "me", limit: 9 })).map(({ job_id }) => job_id)).toEqual([
    job.job_id,
    "job_1",
  ]);
  store.close();
  const newer = new DatabaseSync(file);
  newer.exec("PRAGMA user_version = 99");
  newer.close();
  open();
  await expect(jobs.list({ owner: "me", limit: 9 })).rejects.toThrow("update Octant");
});
