import type { Clock } from "../clock.ts";
import type { Envelope } from "../envelope.ts";
import { ToolError } from "../errors.ts";
import type { Topic } from "../topic.ts";
import { isUnfinished, type Job } from "./job.ts";
import type { JobEvent } from "./job-events.ts";
import type { JobFilter, JobStore } from "./job-store.ts";
import { createLateWrites } from "./late-writes.ts";
import { cancelJob, createLiveJobs } from "./live-jobs.ts";
import type { JobAnswer, JobRequest } from "./request.ts";
import { runJob } from "./run-job.ts";
import { createWaiting, type Waiting } from "./waiting.ts";

/** Work that may outlast the call that asked for it. */
export interface Jobs extends Waiting {
  readonly events: Topic<JobEvent>;
  run(request: JobRequest): Promise<JobAnswer>;
  get(owner: string, job_id: string): Job;
  result(owner: string, job_id: string): Envelope | undefined;
  list(filter: JobFilter): readonly Job[];
  /** Ends the work, and resolves when it has ended. */
  cancel(owner: string, job_id: string): Promise<Job>;
  /** Cancels everything; for a server that goes down in good order. */
  close(): Promise<void>;
}

export function createJobs({ store, clock, events }: JobsOptions): Jobs {
  const writes = createLateWrites(store, clock);
  const liveJobs = createLiveJobs({ store, writes, clock, events });

  const find = (owner: string, job_id: string): Job => {
    const live = liveJobs.get(job_id);
    const job = live?.job.owner === owner ? live.job : writes.stored().get(owner, job_id);
    if (job) return job;
    throw new ToolError("NOT_FOUND", `there is no job ${job_id}; job.list shows yours`, { id: job_id });
  };
  const { wait, ended } = createWaiting({ find, liveJobs, clock, events });

  return {
    events,
    run: (request) => runJob(request, { store, writes, liveJobs, clock }),
    get: find,
    result(owner, job_id) {
      find(owner, job_id);
      return writes.stored().result(job_id);
    },
    list: (filter) =>
      writes
        .stored()
        .list(filter)
        .map((job) => liveJobs.get(job.job_id)?.job ?? job),
    wait,
    ended,
    async cancel(owner, job_id) {
      const job = find(owner, job_id);
      const live = liveJobs.get(job_id);
      if (!live) {
        if (isUnfinished(job)) store.askToCancel(job_id);
        return ended(owner, job_id, CANCEL_ELSEWHERE_MS, new AbortController().signal);
      }
      cancelJob(live, "the job was cancelled");
      await live.ended.promise;
      return find(owner, job_id);
    },
    async close() {
      const running = liveJobs.all();
      for (const live of running) cancelJob(live, "the server stops");
      liveJobs.close();
      await Promise.allSettled(running.map((live) => live.ended.promise));
      writes.flush();
    },
  };
}

export interface JobsOptions {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly events: Topic<JobEvent>;
}

/** Long enough for the other process to look, and for what it runs to end. */
const CANCEL_ELSEWHERE_MS = 10_000;
