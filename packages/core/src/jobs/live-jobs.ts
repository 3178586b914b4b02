import type { Envelope } from "../envelope.ts";
import { ToolError } from "../errors.ts";
import type { StreamChunk } from "../tool.ts";
import { type Job, type JobWork, toEndState } from "./job.ts";
import type { JobEvent } from "./job-events.ts";
import type { JobsOptions } from "./jobs.ts";

/** A job of this process that has not ended. */
export interface LiveJob {
  job: Job;
  /** The caller knows the job, or will, so that it may poll for the result. */
  wanted: boolean;
  /** The caller has the job's id. */
  acknowledged: boolean;
  /** False when the store failed; then only this process knows the job. */
  stored: boolean;
  readonly work: JobWork;
  readonly controller: AbortController;
  readonly detached: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<Envelope>;
}

export const createLiveJob = (job: Job, work: JobWork, wanted: boolean): LiveJob => ({
  job,
  work,
  wanted,
  acknowledged: false,
  stored: false,
  controller: new AbortController(),
  detached: Promise.withResolvers(),
  ended: Promise.withResolvers(),
});

/** Aborts the work; `ended` resolves when it has ended. */
export const cancelJob = ({ controller }: LiveJob, why: string): void =>
  controller.abort(new ToolError("CANCELLED", why, {}));

const STORE_RETRY_MS = 1_000;
const CANCEL_CHECK_MS = 1_000;

/** Runs a bounded number of jobs at once; the others wait in order, and other processes may claim open ones meanwhile. */
export class JobRunner {
  readonly #options: Required<JobsOptions>;
  readonly #byId = new Map<string, LiveJob>();
  readonly #queue: LiveJob[] = [];
  readonly #closing = new AbortController();
  #running = 0;
  #isHeeding = false;

  constructor(options: Required<JobsOptions>) {
    this.#options = options;
  }

  get hasRoom(): boolean {
    return this.#running < this.#options.maxRunning && this.#queue.length === 0;
  }

  get(job_id: string): LiveJob | undefined {
    return this.#byId.get(job_id);
  }

  add(live: LiveJob): void {
    this.#byId.set(live.job.job_id, live);
  }

  remove(live: LiveJob): void {
    this.#byId.delete(live.job.job_id);
  }

  /** Takes one of the places; false when all are taken, or others wait for one. */
  reserve(): boolean {
    if (!this.hasRoom) return false;
    this.#running++;
    return true;
  }

  release(): void {
    this.#running--;
    const next = this.#queue.shift();
    if (!next) return;
    this.#running++;
    void this.#startQueued(next);
  }

  enqueue(live: LiveJob): void {
    this.#queue.push(live);
    this.#publish(live.job, { type: "queued" });
    const { signal } = live.controller;
    // A cancelled job does not wait for its turn: its work ends at once.
    const leave = () => {
      const index = this.#queue.indexOf(live);
      if (index === -1) return;
      this.#queue.splice(index, 1);
      this.#running++;
      void this.#startQueued(live);
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  }

  /** Runs a job for which a place was reserved. */
  async start(live: LiveJob): Promise<void> {
    const { clock } = this.#options;
    const { job_id } = live.job;
    live.job = { ...live.job, state: "running" };
    this.#publish(live.job, { type: "start" });
    void this.#heedCancelRequests();
    const emit = (chunk: StreamChunk) => {
      if (chunk.kind === "progress") {
        const { kind: _kind, ...progress } = chunk;
        live.job = { ...live.job, progress, updated_at: clock.now() };
      }
      this.#publish(live.job, { type: "chunk", chunk });
    };
    const { signal } = live.controller;
    const result = await live.work({ job_id, signal, emit, detach: live.detached.resolve });
    const state = toEndState(result);
    const now = clock.now();
    // Until now it was the time to live after the creation.
    const expires_at = now + (live.job.expires_at - live.job.created_at);
    const ended = { ...live.job, state, updated_at: now, expires_at };
    await this.#storeEnd(live, ended, result);
    live.job = ended;
    this.remove(live);
    this.release();
    this.#publish(ended, { type: "end", state });
    live.ended.resolve(result);
  }

  /** Polls the store for requests of other processes to cancel jobs, as long as any run here. */
  async #heedCancelRequests(): Promise<void> {
    if (this.#isHeeding) return;
    const { store, clock } = this.#options;
    const { signal } = this.#closing;
    this.#isHeeding = true;
    while (this.#byId.size > 0 && !signal.aborted) {
      await clock.sleep(CANCEL_CHECK_MS, signal);
      for (const live of [...this.#byId.values()]) {
        const isRequested =
          live.stored && (await store.isCancelRequested(live.job.job_id).catch(() => false));
        if (isRequested) cancelJob(live, "the job was cancelled");
      }
    }
    this.#isHeeding = false;
  }

  /** Cancels running jobs. Acknowledged jobs in the queue stay there for other processes. */
  async close(): Promise<void> {
    const left = this.#queue.filter(({ acknowledged }) => acknowledged);
    for (const live of left) this.#queue.splice(this.#queue.indexOf(live), 1);
    const live = [...this.#byId.values()].filter((one) => !left.includes(one));
    for (const one of live) cancelJob(one, "the server stops");
    this.#closing.abort();
    await Promise.allSettled(live.map(({ ended }) => ended.promise));
  }

  async #startQueued(live: LiveJob): Promise<void> {
    const { store, clock } = this.#options;
    const { job_id } = live.job;
    const claim = async () => (await store.claim({ job_id }, clock.now())) !== undefined;
    // While a job is not open, no other process can have claimed it.
    const isOurs = !live.stored || (await claim().catch(() => !live.wanted));
    if (isOurs) return this.start(live);
    this.release();
    await this.#followElsewhere(live);
  }

  /** Another process has claimed the job; its end is in the store. */
  async #followElsewhere(live: LiveJob): Promise<void> {
    const { store, clock } = this.#options;
    const { job_id, caller } = live.job;
    this.remove(live);
    const look = async () => {
      if (live.controller.signal.aborted) await store.requestCancel(job_id);
      live.job = (await store.get(caller.id, job_id)) ?? live.job;
      return store.result(job_id);
    };
    for (;;) {
      // A store that fails now may answer later.
      const result = await look().catch(() => undefined);
      if (result) return live.ended.resolve(result);
      if (this.#closing.signal.aborted) return;
      await clock.sleep(STORE_RETRY_MS, this.#closing.signal);
    }
  }

  async #storeEnd(live: LiveJob, ended: Job, result: Envelope): Promise<void> {
    const { store, clock } = this.#options;
    const isPollable = live.wanted || ended.key !== null;
    const kept = isPollable || !result.ok ? result : null;
    for (;;) {
      try {
        return await store.finish(ended, kept, { durable: live.wanted });
      } catch {
        // Only a caller that knows the job will poll for its result; a disk that is full now may have space later.
        if (!live.acknowledged || this.#closing.signal.aborted) return;
        await clock.sleep(STORE_RETRY_MS, this.#closing.signal);
      }
    }
  }

  #publish({ job_id, caller }: Job, event: JobEventBody): void {
    this.#options.events.publish({ job_id, owner: caller.id, ...event });
  }
}

type JobEventBody = JobEvent extends infer E
  ? E extends JobEvent
    ? Omit<E, "job_id" | "owner">
    : never
  : never;
