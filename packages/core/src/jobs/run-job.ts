import type { Clock } from "../clock.ts";
import { ToolError } from "../errors.ts";
import type { Job } from "./job.ts";
import type { JobStore } from "./job-store.ts";
import type { LateWrites } from "./late-writes.ts";
import { cancelJob, type LiveJob, type LiveJobs } from "./live-jobs.ts";
import { patiently } from "./patience.ts";
import type { JobAnswer, JobRequest } from "./request.ts";

export interface RunJobOptions {
  readonly store: JobStore;
  readonly writes: LateWrites;
  readonly liveJobs: LiveJobs;
  readonly clock: Clock;
}

/** Starts the work, unless its key says that it was started before, and waits for it as long as the caller does. */
export async function runJob(request: JobRequest, options: RunJobOptions): Promise<JobAnswer> {
  const { writes, liveJobs, clock } = options;
  const known = findSameCall(request, writes);
  const before = known && liveJobs.get(known.job_id);
  if (known && !before) return { job: known, result: writes.stored().result(known.job_id) ?? null };
  const live = before ?? liveJobs.start(request);
  const cancel = () => live.controller.abort(request.signal.reason);
  // Until the job id is known to the caller, its going away ends the work.
  if (!before) request.signal.addEventListener("abort", cancel, { once: true });
  const result = await patiently(live, request.patienceMs, clock);
  request.signal.removeEventListener("abort", cancel);
  if (result) return { job: live.job, result };
  acknowledge(live, options);
  return { job: live.job, result: null };
}

function findSameCall(request: JobRequest, writes: LateWrites): Job | undefined {
  if (request.key === undefined) return undefined;
  const known = writes.stored().byKey(request.owner, request.key);
  if (known) checkSameCall(known, request);
  return known;
}

function checkSameCall({ tool, action, digest, key }: Job, request: JobRequest): void {
  if (tool === request.tool && action === request.action && digest === (request.digest ?? null)) return;
  const message = `the key '${key}' belongs to another call, of ${tool}.${action}; take a new one`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "key", message }] });
}

/** The caller will come back for the job, so it is told of one only that outlives the process. */
function acknowledge(live: LiveJob, options: RunJobOptions): void {
  const { store, writes } = options;
  try {
    writes.now(live.job.job_id, () => store.put(live.job, { durable: true }));
  } catch (cause) {
    live.controller.abort(cause);
    throw cause;
  }
  if (!live.acknowledged) void heedOthers(live, options);
  live.wanted = true;
  live.acknowledged = true;
}

const HEED_EVERY_MS = 1_000;

/** A job may be cancelled from another process of the workspace, which knows it by the store only. */
async function heedOthers(live: LiveJob, { store, liveJobs, clock }: RunJobOptions): Promise<void> {
  const { job_id } = live.job;
  const isRunning = () => liveJobs.get(job_id) !== undefined;
  const over = new AbortController();
  void live.ended.promise.then(() => over.abort());
  while (isRunning()) {
    await clock.sleep(HEED_EVERY_MS, over.signal);
    if (isRunning() && store.isAskedToCancel(job_id)) cancelJob(live, "the job was cancelled");
  }
}
