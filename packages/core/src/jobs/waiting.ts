import type { Clock } from "../clock.ts";
import type { Topic } from "../topic.ts";
import { isUnfinished, type Job } from "./job.ts";
import type { JobEvent } from "./job-events.ts";
import type { JobRunner } from "./live-jobs.ts";
import { within } from "./patience.ts";

/** Waits for a job, whichever process of the workspace runs it. */
export interface Waiting {
  /** Resolves when the job changes (an event, or its end) or the time is up. */
  wait(owner: string, job_id: string, fromSeq: number, ms: number, signal: AbortSignal): Promise<Job>;
  /** Resolves when the job has ended or the time is up. */
  ended(owner: string, job_id: string, ms: number, signal: AbortSignal): Promise<Job>;
}

export interface WaitingOptions {
  /** Throws when the owner has no such job. */
  readonly find: (owner: string, job_id: string) => Promise<Job>;
  readonly runner: JobRunner;
  readonly clock: Clock;
  readonly events: Topic<JobEvent>;
}

export function createWaiting({ find, runner, clock, events }: WaitingOptions): Waiting {
  /** Polls the store for a job that another process runs. */
  const watchElsewhere = async (owner: string, job_id: string, ms: number, signal: AbortSignal) => {
    const until = clock.now() + ms;
    while (!signal.aborted && clock.now() < until && isUnfinished(await find(owner, job_id)))
      await clock.sleep(Math.min(POLL_MS, until - clock.now()), signal);
    return find(owner, job_id);
  };

  return {
    async wait(owner, job_id, fromSeq, ms, signal) {
      await find(owner, job_id);
      if (!runner.get(job_id)) return watchElsewhere(owner, job_id, ms, signal);
      const isOfJob = (event: JobEvent) => event.job_id === job_id;
      if (events.read(fromSeq, isOfJob).events.length === 0) {
        const changed = new AbortController();
        const stop = events.listen(({ value }) => isOfJob(value) && changed.abort());
        await clock.sleep(ms, AbortSignal.any([signal, changed.signal]));
        stop();
      }
      return find(owner, job_id);
    },
    async ended(owner, job_id, ms, signal) {
      await find(owner, job_id);
      const live = runner.get(job_id);
      if (!live) return watchElsewhere(owner, job_id, ms, signal);
      await within(ms, clock, [live.ended.promise], signal);
      return find(owner, job_id);
    },
  };
}

const POLL_MS = 250;
