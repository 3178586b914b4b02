import type { Clock } from "../clock.ts";
import type { Envelope } from "../envelope.ts";
import { ToolError } from "../errors.ts";
import type { StreamChunk } from "../stream.ts";
import type { Topic } from "../topic.ts";
import { type Job, newJob, toEndState, withEnd, withProgress } from "./job.ts";
import type { JobEvent } from "./job-events.ts";
import type { JobStore } from "./job-store.ts";
import { type LateWrites, orForget } from "./late-writes.ts";
import { asksForJob } from "./patience.ts";
import type { JobRequest } from "./request.ts";

/** A job that this process runs. */
export interface LiveJob {
  job: Job;
  /** Whether the caller knows of the job, or will, so that it may ask for its result. */
  wanted: boolean;
  /** Whether the caller was told of it. */
  acknowledged: boolean;
  readonly controller: AbortController;
  readonly detached: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<Envelope>;
}

export interface LiveJobs {
  start(request: JobRequest): LiveJob;
  get(job_id: string): LiveJob | undefined;
  all(): readonly LiveJob[];
  /** From now on nobody waits for a store that fails. */
  close(): void;
}

export interface LiveJobsOptions {
  readonly store: JobStore;
  readonly writes: LateWrites;
  readonly clock: Clock;
  readonly events: Topic<JobEvent>;
}

export function createLiveJobs({ store, writes, clock, events }: LiveJobsOptions): LiveJobs {
  const byId = new Map<string, LiveJob>();
  const closing = new AbortController();

  const work = async (request: JobRequest, live: LiveJob): Promise<Envelope> => {
    const { job_id, owner } = live.job;
    const emit = (chunk: StreamChunk) => {
      if (chunk.kind === "progress") {
        const { kind: _kind, ...progress } = chunk;
        live.job = withProgress(live.job, progress, clock.now());
      }
      events.publish({ job_id, owner, type: "chunk", chunk });
    };
    const { signal } = live.controller;
    const result = await request.work({ job_id, signal, emit, detach: live.detached.resolve });
    const state = toEndState(result);
    const ended = withEnd(live.job, state, clock.now());
    // Who was told of the job will ask for its result: a disk that is full now may have space later.
    while (!storeEnd(live, ended, result) && live.acknowledged && !closing.signal.aborted)
      await clock.sleep(STORE_AGAIN_MS, closing.signal);
    live.job = ended;
    byId.delete(job_id);
    events.publish({ job_id, owner, type: "end", state });
    return result;
  };

  const storeStart = (live: LiveJob) => {
    const put = () => store.put(live.job, { durable: false });
    if (live.job.key === null) writes.later(live.job.job_id, put);
    // From now on other processes of the workspace must see that the key is taken.
    else orForget(put);
  };

  /** Whether it needs not be tried again. */
  const storeEnd = ({ wanted }: LiveJob, ended: Job, result: Envelope): boolean => {
    const { job_id, key } = ended;
    const canBeAskedFor = wanted || key !== null;
    const kept = canBeAskedFor || !result.ok ? result : null;
    const finish = () => store.finish(ended, kept, { durable: wanted });
    if (canBeAskedFor) return orForget(() => writes.now(job_id, finish));
    writes.later(job_id, finish);
    return true;
  };

  return {
    start(request) {
      const live = newLiveJob(request, clock.now());
      byId.set(live.job.job_id, live);
      events.publish({ job_id: live.job.job_id, owner: live.job.owner, type: "start" });
      void work(request, live).then(live.ended.resolve, live.ended.reject);
      storeStart(live);
      return live;
    },
    get: (job_id) => byId.get(job_id),
    all: () => [...byId.values()],
    close: () => closing.abort(),
  };
}

const STORE_AGAIN_MS = 1_000;

const newLiveJob = (request: JobRequest, now: number): LiveJob => ({
  job: newJob(request, now),
  wanted: asksForJob(request.patienceMs),
  acknowledged: false,
  controller: new AbortController(),
  detached: Promise.withResolvers(),
  ended: Promise.withResolvers(),
});

/** Tells the work to end; `ended` says when it has. */
export const cancelJob = ({ controller }: LiveJob, why: string): void =>
  controller.abort(new ToolError("CANCELLED", why, {}));
