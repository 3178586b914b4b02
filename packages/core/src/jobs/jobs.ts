import type { Clock } from "../clock.ts";
import type { Envelope } from "../envelope.ts";
import { ToolError } from "../errors.ts";
import type { Topic } from "../topic.ts";
import { isUnfinished, type Job } from "./job.ts";
import type { JobEvent } from "./job-events.ts";
import type { JobFilter, JobStore } from "./job-store.ts";
import { cancelJob, createLiveJob, JobRunner } from "./live-jobs.ts";
import type { JobAnswer, JobRequest, JobWork } from "./request.ts";
import { enqueueJob, runJob } from "./run-job.ts";
import { createWaiting, type Waiting } from "./waiting.ts";

/** Work that may outlast the call that asked for it. */
export interface Jobs extends Waiting {
  readonly events: Topic<JobEvent>;
  run(request: JobRequest): Promise<JobAnswer>;
  /** Stores a job for the next free worker of any process; durable when the promise resolves. */
  enqueue(request: Omit<JobRequest, "work" | "signal" | "patienceMs">): Promise<Job>;
  /** Claims the oldest open job of these tools and starts it; undefined when there is none, or no room for it. */
  runNext(tools: readonly string[], toWork: (job: Job) => JobWork): Promise<Job | undefined>;
  get(owner: string, job_id: string): Promise<Job>;
  result(owner: string, job_id: string): Promise<Envelope | undefined>;
  list(filter: JobFilter): Promise<readonly Job[]>;
  /** Ends the work, and resolves when it has ended. */
  cancel(owner: string, job_id: string): Promise<Job>;
  /** Cancels the jobs running here, for an orderly shutdown; acknowledged jobs in the queue stay for other processes. */
  close(): Promise<void>;
}

export interface JobsOptions {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly events: Topic<JobEvent>;
  readonly maxRunning?: number;
}

export const MAX_RUNNING_JOBS = 256;

/** Long enough for the other process to notice, and for its work to end. */
const CANCEL_ELSEWHERE_MS = 10_000;

export function createJobs({ store, clock, events, maxRunning = MAX_RUNNING_JOBS }: JobsOptions): Jobs {
  const runner = new JobRunner({ store, clock, events, maxRunning });

  const find = async (owner: string, job_id: string): Promise<Job> => {
    const live = runner.get(job_id);
    const job = live?.job.caller.id === owner ? live.job : await store.get(owner, job_id);
    if (job) return job;
    throw new ToolError("NOT_FOUND", `there is no job ${job_id}; job.list shows yours`, { id: job_id });
  };
  const { wait, ended } = createWaiting({ find, runner, clock, events });
  /** Cancels a job that is not claimed yet. */
  const cancelOpen = async (job: Job): Promise<boolean> => {
    const claimed = job.state === "queued" && (await store.claim({ job_id: job.job_id }, clock.now()));
    if (!claimed) return false;
    const cancelled = { ...claimed, state: "cancelled", updated_at: clock.now() } as const;
    await store.finish(cancelled, toCancelled(claimed), { durable: true });
    return true;
  };

  return {
    events,
    run: (request) => runJob(request, { store, runner, clock }),
    async enqueue(request) {
      const job = await enqueueJob(request, { store, clock });
      events.publish({ job_id: job.job_id, owner: job.caller.id, type: "queued" });
      return job;
    },
    async runNext(tools, toWork) {
      if (!runner.reserve()) return undefined;
      const job = await store.claim({ tools }, clock.now()).catch(() => undefined);
      if (!job) {
        runner.release();
        return undefined;
      }
      const live = createLiveJob(job, toWork(job), true);
      Object.assign(live, { acknowledged: true, stored: true });
      runner.add(live);
      void runner.heedCancelRequests(live);
      void runner.start(live);
      return job;
    },
    get: find,
    async result(owner, job_id) {
      await find(owner, job_id);
      return store.result(job_id);
    },
    list: async (filter) => (await store.list(filter)).map((job) => runner.get(job.job_id)?.job ?? job),
    wait,
    ended,
    async cancel(owner, job_id) {
      const job = await find(owner, job_id);
      const live = runner.get(job_id);
      if (live) {
        cancelJob(live, "the job was cancelled");
        await live.ended.promise;
        return find(owner, job_id);
      }
      if (!isUnfinished(job) || (await cancelOpen(job))) return find(owner, job_id);
      await store.requestCancel(job_id);
      return ended(owner, job_id, CANCEL_ELSEWHERE_MS, new AbortController().signal);
    },
    close: () => runner.close(),
  };
}

const toCancelled = ({ tool, action }: Job): Envelope => ({
  ok: false,
  data: null,
  error: { code: "CANCELLED", message: "the job was cancelled before it started", details: {} },
  meta: { tool, action, trace_id: "", paging: { cursor: null, more: false } },
});
