import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createJobEvents, createJobs, type Job, type Jobs, type Worker } from "@octant/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startWorker } from "../../testing/jobs/working-process.ts";
import { systemClock } from "./clock.ts";
import { createJobStore } from "./job-store.ts";

const ME = { id: "me", access: "write" } as const;

let folder: string;
let store: ReturnType<typeof createJobStore>;
let jobs: Jobs;
let worker: Worker | undefined;
let other: ChildProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-worker-"));
  store = createJobStore(join(folder, "jobs.sqlite"));
  jobs = createJobs({ store, clock: systemClock, events: createJobEvents(), maxRunning: 1 });
});
afterEach(async () => {
  other?.kill("SIGKILL");
  await worker?.close();
  worker = undefined;
  await jobs.close();
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const gate = (name: string) => join(folder, name);
const enqueue = (name: string): Promise<Job> =>
  jobs.enqueue({ tool: "gate", action: "pass", input: { gate: gate(name), hold: true }, caller: ME });
const stateOf = async ({ job_id }: Job) => (await jobs.get("me", job_id)).state;

/** A second server of the workspace; resolves with a line of its output at a time. */
async function startOther(role: "worker" | "submitter") {
  const script = join(import.meta.dirname, "../../testing/jobs/working-process.ts");
  other = spawn(process.execPath, [script, folder, role], { stdio: ["ignore", "pipe", "inherit"] });
  if (!other.stdout) throw new Error("stdout is a pipe");
  const lines = createInterface({ input: other.stdout })[Symbol.asyncIterator]();
  return { line: async () => String((await lines.next()).value), kill: killOther };
}
async function killOther() {
  if (!other) throw new Error("there is no other process");
  const exited = once(other, "exit");
  other.kill("SIGKILL");
  await exited;
}

test("a second process runs the queued job of the first as its caller, and the first gets the result", async () => {
  const job = await jobs.enqueue({
    tool: "gate",
    action: "pass",
    input: { gate: gate("open"), hold: false },
    caller: ME,
  });
  expect(job.state).toBe("queued");
  const { line } = await startOther("worker");
  expect(await line()).toBe(`running ${job.job_id} for me`);
  const ended = await jobs.ended("me", job.job_id, 20_000, new AbortController().signal);
  expect(ended.state).toBe("complete");
  expect(await jobs.result("me", job.job_id)).toMatchObject({ ok: true, data: { pid: other?.pid } });
});

test("when the first process is killed, another one runs the jobs that were queued there, in their order", async () => {
  const { line, kill } = await startOther("submitter");
  const [running, ...queued] = (await line()).split(" ");
  expect(await line(), "the first of them runs there").toBe(`running ${running} for me`);
  await kill();
  worker = startWorker(jobs, { onStart: (job_id) => started.push(job_id) });
  const started: string[] = [];
  for (const job_id of queued) {
    const { state } = await jobs.ended("me", job_id, 20_000, new AbortController().signal);
    expect(state).toBe("complete");
  }
  expect(started).toEqual(queued);
  expect(await jobs.result("me", running ?? "")).toMatchObject({ error: { code: "INTERRUPTED" } });
});

test("when the process that claimed a job is killed, the job has failed with INTERRUPTED", async () => {
  const job = await enqueue("never");
  const { line, kill } = await startOther("worker");
  await line();
  expect(await stateOf(job)).toBe("running");
  await kill();
  expect(await store.recover(Date.now())).toBe(1);
  expect(await stateOf(job)).toBe("failed");
  expect((await jobs.result("me", job.job_id))?.error?.code).toBe("INTERRUPTED");
});

test("a job that another process runs is cancelled from here, children included", async () => {
  const job = await enqueue("never");
  const { line } = await startOther("worker");
  await line();
  expect((await jobs.cancel("me", job.job_id)).state).toBe("cancelled");
});

test("a queued job is cancelled without having run", async () => {
  const job = await enqueue("cancelled");
  expect((await jobs.cancel("me", job.job_id)).state).toBe("cancelled");
  worker = startWorker(jobs);
  const next = await enqueue("next");
  await expect.poll(() => stateOf(next)).toBe("running");
  expect(existsSync(gate("cancelled"))).toBe(false);
});

test("beyond the limit jobs wait for their turn; a caller that gives up leaves the queue", async () => {
  const signal = new AbortController().signal;
  const release = Promise.withResolvers<void>();
  const work = async () => {
    await release.promise;
    return { ok: true, data: null, error: null, meta: META } as const;
  };
  const request = { tool: "t", action: "a", input: {}, caller: ME, signal, work, patienceMs: 0 };
  const first = await jobs.run(request);
  const second = await jobs.run(request);
  expect([first.job.state, second.job.state]).toEqual(["running", "queued"]);
  const leaving = new AbortController();
  const third = jobs.run({ ...request, signal: leaving.signal, patienceMs: 30_000, work: stopWhenAborted });
  await expect.poll(async () => (await jobs.list({ owner: "me", state: "queued", limit: 9 })).length).toBe(2);
  leaving.abort();
  expect((await third).job.state).toBe("cancelled");
  release.resolve();
  for (const { job } of [first, second])
    expect((await jobs.ended("me", job.job_id, 20_000, signal)).state).toBe("complete");
});

const META = { tool: "t", action: "a", trace_id: "", paging: { cursor: null, more: false } };
const stopWhenAborted = async ({ signal }: { signal: AbortSignal }) => {
  expect(signal.aborted).toBe(true);
  return {
    ok: false,
    data: null,
    error: { code: "CANCELLED", message: "", details: {} },
    meta: META,
  } as const;
};
