import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";
import { type Envelope, toFailure } from "../envelope.ts";
import { invalidArgument, ToolError } from "../errors.ts";
import type { Topic } from "../topic.ts";
import {
  asksForJob,
  isUnfinished,
  type Job,
  type JobAnswer,
  type JobRequest,
  type JobWork,
  newJob,
} from "./job.ts";
import type { JobEvent } from "./job-events.ts";
import type { JobFilter, JobOwner, JobStore } from "./job-store.ts";
import { cancelJob, createLiveJob, JobRunner, type LiveJob } from "./live-jobs.ts";

export interface JobsOptions {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly events: Topic<JobEvent>;
  readonly maxRunning?: number;
}

const MAX_RUNNING_JOBS = 256;
/** How often a job of another process is polled. */
const POLL_MS = 250;
/** Long enough for the other process to notice, and for its work to end. */
const CANCEL_ELSEWHERE_MS = 10_000;

export const createJobs = (options: JobsOptions): Jobs => new Jobs(options);

/** Work that may outlast the call that asked for it. */
export class Jobs {
  readonly events: Topic<JobEvent>;
  readonly #store: JobStore;
  readonly #clock: Clock;
  readonly #runner: JobRunner;

  constructor({ maxRunning = MAX_RUNNING_JOBS, ...options }: JobsOptions) {
    this.events = options.events;
    this.#store = options.store;
    this.#clock = options.clock;
    this.#runner = new JobRunner({ ...options, maxRunning });
  }

  /** Stores the job, runs it unless its key was used before, and waits for the result as long as the caller does. */
  async run(request: JobRequest): Promise<JobAnswer> {
    const job = toJob(request, this.#clock.now());
    const fresh = createLiveJob(job, request.work, asksForJob(request.patienceMs));
    // Until the caller knows the job's id, a caller that goes away ends the work.
    const cancel = () => fresh.controller.abort(request.signal.reason);
    request.signal.addEventListener("abort", cancel, { once: true });
    try {
      const known = await this.#submit(fresh);
      const live = known ? this.#runner.get(known.job_id) : fresh;
      if (known && !live) return { job: known, result: (await this.#store.result(known.job_id)) ?? null };
      if (!live) throw new Error("a job is known or fresh");
      const result = await this.#patiently(live, request.patienceMs);
      if (result) return { job: live.job, result };
      await this.#acknowledge(live);
      return { job: live.job, result: null };
    } finally {
      request.signal.removeEventListener("abort", cancel);
    }
  }

  /** Stores and starts the job, or returns the earlier one with its key. */
  async #submit(live: LiveJob): Promise<Job | undefined> {
    const runner = this.#runner;
    const isReserved = runner.reserve();
    if (isReserved) live.job = { ...live.job, state: "running" };
    runner.add(live);
    const giveUp = () => {
      runner.remove(live);
      if (isReserved) runner.release();
    };
    try {
      const stored = await this.#store.add(live.job, { durable: live.wanted, isOpen: live.wanted });
      live.stored = true;
      checkSameCall(stored, live.job);
      if (stored.job_id !== live.job.job_id) {
        giveUp();
        return stored;
      }
    } catch (cause) {
      // A failing store must not cost a waiting caller the answer; the job is not known to anyone else.
      if (live.wanted || live.stored || live.job.key !== null) {
        giveUp();
        throw cause;
      }
    }
    if (isReserved) void runner.start(live);
    else runner.enqueue(live);
    return undefined;
  }

  /** The outcome, if it arrives in time; a caller that asks for the job waits only for a failure. */
  async #patiently({ ended, detached }: LiveJob, ms: number): Promise<Envelope | undefined> {
    if (ms <= 0) return undefined;
    if (asksForJob(ms)) return this.#within(ms, ended.promise.then(onlyFailure));
    return this.#within(ms, Promise.race([ended.promise, detached.promise.then(() => undefined)]));
  }

  /** The caller will poll for the job, so the job must be durable before the caller gets its id. */
  async #acknowledge(live: LiveJob): Promise<void> {
    if (live.acknowledged) return;
    try {
      const isDurable = live.wanted || !this.#runner.get(live.job.job_id);
      if (!isDurable) await this.#store.update(live.job, { durable: true, isOpen: true });
    } catch (cause) {
      live.controller.abort(cause);
      throw cause;
    }
    live.wanted = true;
    live.acknowledged = true;
    live.stored = true;
  }

  /** Stores a job for the next free worker of any process; durable when the promise resolves. */
  async enqueue(request: StoredRequest): Promise<Job> {
    const job = toJob(request, this.#clock.now());
    const stored = await this.#store.add(job, { durable: true, isOpen: true });
    checkSameCall(stored, job);
    this.events.publish({ job_id: stored.job_id, owner: stored.caller.id, type: "queued" });
    return stored;
  }

  /** Whether `runNext` could start a job. */
  get hasRoom(): boolean {
    return this.#runner.hasRoom;
  }

  /** Claims the oldest open job of these tools and starts it; undefined when there is none, or no room for it. */
  async runNext(tools: readonly string[], toWork: (job: Job) => JobWork): Promise<Job | undefined> {
    const runner = this.#runner;
    if (!runner.reserve()) return undefined;
    const job = await this.#store.claim({ tools }, this.#clock.now()).catch(() => undefined);
    if (!job) {
      runner.release();
      return undefined;
    }
    const live = createLiveJob(job, toWork(job), true);
    Object.assign(live, { acknowledged: true, stored: true });
    runner.add(live);
    void runner.start(live);
    return job;
  }

  async get(owner: JobOwner, job_id: string): Promise<Job> {
    const live = this.#runner.get(job_id);
    const job =
      live && (owner === null || live.job.caller.id === owner)
        ? live.job
        : await this.#store.get(owner, job_id);
    if (job) return job;
    throw new ToolError("NOT_FOUND", `there is no job ${job_id}; job.list shows yours`, { id: job_id });
  }

  async result(owner: JobOwner, job_id: string): Promise<Envelope | undefined> {
    await this.get(owner, job_id);
    return this.#store.result(job_id);
  }

  async list(filter: JobFilter): Promise<readonly Job[]> {
    return (await this.#store.list(filter)).map((job) => this.#runner.get(job.job_id)?.job ?? job);
  }

  /** Resolves when the job has ended, has an event from `fromSeq` on, or the time is up; any process may run it. */
  async ended(
    owner: JobOwner,
    job_id: string,
    ms: number,
    signal: AbortSignal,
    fromSeq?: number,
  ): Promise<Job> {
    await this.get(owner, job_id);
    const live = this.#runner.get(job_id);
    if (!live) return this.#watchElsewhere(owner, job_id, ms, signal);
    if (fromSeq === undefined) await this.#within(ms, live.ended.promise, signal);
    else {
      const over = new AbortController();
      const events = this.events.follow(fromSeq, over.signal, (event) => event.job_id === job_id);
      try {
        await this.#within(ms, events.next(), signal);
      } finally {
        over.abort("over");
        await events.return(undefined);
      }
    }
    return this.get(owner, job_id);
  }

  /** Polls the store for a job that another process runs. */
  async #watchElsewhere(owner: JobOwner, job_id: string, ms: number, signal: AbortSignal): Promise<Job> {
    const clock = this.#clock;
    const until = clock.now() + ms;
    while (!signal.aborted && clock.now() < until && isUnfinished(await this.get(owner, job_id)))
      await clock.sleep(Math.min(POLL_MS, until - clock.now()), signal);
    return this.get(owner, job_id);
  }

  /** The result, unless the time is up or the caller aborts before. */
  async #within<T>(ms: number, awaited: Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    const enough = new AbortController();
    const ending = signal ? AbortSignal.any([signal, enough.signal]) : enough.signal;
    const late = this.#clock.sleep(ms, ending).then(() => undefined);
    try {
      return await Promise.race([awaited, late]);
    } finally {
      // Without a reason, Node makes an error with a stack.
      enough.abort("over");
    }
  }

  /** Ends the work, and resolves when it has ended. */
  async cancel(owner: JobOwner, job_id: string): Promise<Job> {
    const job = await this.get(owner, job_id);
    const live = this.#runner.get(job_id);
    if (live) {
      cancelJob(live, "the job was cancelled");
      await live.ended.promise;
      return this.get(owner, job_id);
    }
    if (!isUnfinished(job) || (await this.#cancelOpen(job))) return this.get(owner, job_id);
    await this.#store.requestCancel(job_id);
    return this.ended(owner, job_id, CANCEL_ELSEWHERE_MS, new AbortController().signal);
  }

  /** Cancels a job that is not claimed yet. */
  async #cancelOpen(job: Job): Promise<boolean> {
    const now = this.#clock.now();
    const claimed = job.state === "queued" && (await this.#store.claim({ job_id: job.job_id }, now));
    if (!claimed) return false;
    const cancelled = { ...claimed, state: "cancelled", updated_at: this.#clock.now() } as const;
    const reason = new ToolError("CANCELLED", "the job was cancelled before it started", {});
    await this.#store.finish(cancelled, toFailure(claimed, "", reason), { durable: true });
    return true;
  }

  /** Cancels the jobs running here, for an orderly shutdown; acknowledged jobs in the queue stay for other processes. */
  close(): Promise<void> {
    return this.#runner.close();
  }
}

type StoredRequest = Omit<JobRequest, "work" | "signal" | "patienceMs">;

const toJob = ({ tool, action, input, caller, key, ttlMs }: StoredRequest, now: number): Job => {
  const call = { tool, action, input, caller, key: key ?? null };
  return newJob(call, key === undefined ? null : digestOf(input), now, ttlMs);
};

const digestOf = (input: unknown) =>
  createHash("sha256")
    .update(JSON.stringify(input ?? null))
    .digest("base64url");

function checkSameCall({ tool, action, digest, key }: Job, job: Job): void {
  if (tool === job.tool && action === job.action && digest === job.digest) return;
  throw invalidArgument(
    "key",
    `the key '${key}' belongs to another call, of ${tool}.${action}; use a new one`,
  );
}

const onlyFailure = (result: Envelope): Envelope | undefined => (result.ok ? undefined : result);
