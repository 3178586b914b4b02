import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";
import { ToolError } from "../errors.ts";
import { type Job, newJob } from "./job.ts";
import type { JobStore } from "./job-store.ts";
import { createLiveJob, type JobRunner, type LiveJob } from "./live-jobs.ts";
import { asksForJob, patiently } from "./patience.ts";
import type { JobAnswer, JobRequest } from "./request.ts";

export interface RunJobOptions {
  readonly store: JobStore;
  readonly runner: JobRunner;
  readonly clock: Clock;
}

/** Stores the job, runs it unless its key was used before, and waits for the result as long as the caller does. */
export async function runJob(request: JobRequest, options: RunJobOptions): Promise<JobAnswer> {
  const { store, runner, clock } = options;
  const fresh = createLiveJob(toJob(request, clock.now()), request.work, asksForJob(request.patienceMs));
  // Until the caller knows the job's id, a caller that goes away ends the work.
  const cancel = () => fresh.controller.abort(request.signal.reason);
  request.signal.addEventListener("abort", cancel, { once: true });
  try {
    const known = await submit(fresh, options);
    const live = known ? runner.get(known.job_id) : fresh;
    if (known && !live) return { job: known, result: (await store.result(known.job_id)) ?? null };
    if (!live) throw new Error("a job is known or fresh");
    const result = await patiently(live, request.patienceMs, clock);
    if (result) return { job: live.job, result };
    await acknowledge(live, options);
    return { job: live.job, result: null };
  } finally {
    request.signal.removeEventListener("abort", cancel);
  }
}

/** A job for any process that shares the store. */
export async function enqueueJob(
  request: Omit<JobRequest, "work" | "signal" | "patienceMs">,
  { store, clock }: Pick<RunJobOptions, "store" | "clock">,
): Promise<Job> {
  const job = toJob(request, clock.now());
  const stored = await store.add(job, { durable: true, isOpen: true });
  checkSameCall(stored, job);
  return stored;
}

/** Stores and starts the job, or returns the earlier one with its key. */
async function submit(live: LiveJob, { store, runner }: RunJobOptions): Promise<Job | undefined> {
  const isReserved = runner.reserve();
  if (isReserved) live.job = { ...live.job, state: "running" };
  runner.add(live);
  try {
    const stored = await store.add(live.job, { durable: live.wanted, isOpen: live.wanted });
    live.stored = true;
    checkSameCall(stored, live.job);
    if (stored.job_id !== live.job.job_id) {
      giveUp(live, runner, isReserved);
      return stored;
    }
  } catch (cause) {
    // A failing store must not cost a waiting caller the answer; the job is not known to anyone else.
    if (live.wanted || live.stored || live.job.key !== null) {
      giveUp(live, runner, isReserved);
      throw cause;
    }
  }
  if (isReserved) void runner.start(live);
  else runner.enqueue(live);
  return undefined;
}

function giveUp(live: LiveJob, runner: JobRunner, isReserved: boolean): void {
  runner.remove(live);
  if (isReserved) runner.release();
}

const toJob = (
  { tool, action, input, caller, key }: Omit<JobRequest, "work" | "signal" | "patienceMs">,
  now: number,
) =>
  newJob({ tool, action, input, caller, key: key ?? null }, key === undefined ? null : digestOf(input), now);

const digestOf = (input: unknown) =>
  createHash("sha256")
    .update(JSON.stringify(input ?? null))
    .digest("base64url");

function checkSameCall({ tool, action, digest, key }: Job, job: Job): void {
  if (tool === job.tool && action === job.action && digest === job.digest) return;
  const message = `the key '${key}' belongs to another call, of ${tool}.${action}; use a new one`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "key", message }] });
}

/** The caller will poll for the job, so the job must be durable before the caller gets its id. */
async function acknowledge(live: LiveJob, { store, runner }: RunJobOptions): Promise<void> {
  if (live.acknowledged) return;
  try {
    const isDurable = live.wanted || !runner.get(live.job.job_id);
    if (!isDurable) await store.update(live.job, { durable: true, isOpen: true });
  } catch (cause) {
    live.controller.abort(cause);
    throw cause;
  }
  live.wanted = true;
  live.acknowledged = true;
  live.stored = true;
  void runner.heedCancelRequests(live);
}
