import type { Envelope } from "./envelope.ts";
import { ToolError } from "./errors.ts";
import type { EventLog, StreamChunk } from "./events.ts";
import { newHandle } from "./ids.ts";
import type { Progress, Timing } from "./tool.ts";

export const JOB_STATES = ["queued", "running", "complete", "failed", "cancelled"] as const;
export type JobState = (typeof JOB_STATES)[number];

export interface Job {
  readonly job_id: string;
  readonly tool: string;
  readonly action: string;
  /** Only its owner finds a job; to everybody else it does not exist. */
  readonly owner: string;
  readonly state: JobState;
  readonly progress: Progress | null;
  readonly created_at: number;
  readonly updated_at: number;
  /** When a finished job is forgotten. */
  readonly expires_at: number;
  /** The caller's own key: the same call with the same key is the same job. */
  readonly key: string | null;
  /** Of the call's input, for telling the same call from another; null without a key. */
  readonly digest: string | null;
}

export interface JobFilter {
  readonly owner: string;
  readonly state?: JobState;
  readonly tool?: string;
  /** Made at this time or later. */
  readonly since?: number;
  /** Jobs made before this one; they come newest first. */
  readonly before?: string;
  readonly limit: number;
}

/** Where jobs outlive the process. What is written `durable` is on the disk before the call returns. */
export interface JobStore {
  put(job: Job, options: { readonly durable: boolean }): void;
  /** Without a result the outcome was answered already, and nobody will ask for it. */
  finish(job: Job, result: Envelope | null, options: { readonly durable: boolean }): void;
  get(owner: string, job_id: string): Job | undefined;
  result(job_id: string): Envelope | undefined;
  byKey(owner: string, key: string): Job | undefined;
  list(filter: JobFilter): readonly Job[];
  /** Writes that take little longer together than one of them alone. */
  together(writes: () => void): void;
  /** Asks the process that runs the job, whichever it is, to end it. */
  askToCancel(job_id: string): void;
  isAskedToCancel(job_id: string): boolean;
  /** Makes the jobs of a process that died fail with INTERRUPTED, and forgets the expired; answers how many failed. */
  recover(now: number): number;
}

/** Time comes from outside: core has no clock. */
export interface Clock {
  now(): number;
  /** Resolves after the time or when the signal aborts, whichever is first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Patience as short as this is for failures only: who asks for a job gets one, unless it never came to anything. */
const FAILURE_MS = 50;

/** How long an edge waits for the outcome before it answers with the job. */
export const PATIENCE_MS: Readonly<Record<Exclude<Timing, "sync">, number>> = {
  async_short: 30_000,
  async_medium: 120_000,
  async_long: FAILURE_MS,
  fire_and_forget: 0,
};

/** Until then most work has ended, and one write tells both its start and its end. */
const STORE_AFTER_MS = 20;
const TTL_MS = 24 * 60 * 60 * 1000;
const HEED_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 250;
/** Long enough for the other process to look, and for what it runs to end. */
const CANCEL_ELSEWHERE_MS = 10_000;

/** A reason at hand: without one an error is made, which takes longer than the rest. */
const ENOUGH = "enough";

const never = new AbortController().signal;

const cancelled = () => new ToolError("CANCELLED", "the job was cancelled", {});
const isUnfinished = ({ state }: Job) => state === "queued" || state === "running";

export interface JobRequest {
  readonly tool: string;
  readonly action: string;
  readonly owner: string;
  readonly key?: string | undefined;
  /** Of the input; needed with a key. */
  readonly digest?: string | undefined;
  readonly patienceMs: number;
  /** The caller's: aborting it before the job was acknowledged cancels the job. */
  readonly signal: AbortSignal;
  readonly work: (job: RunningJob) => Promise<Envelope>;
}

export interface RunningJob {
  readonly job_id: string;
  readonly signal: AbortSignal;
  emit(chunk: StreamChunk): void;
  /** Ends the caller's waiting; the work goes on. */
  detach(): void;
}

/** Either the outcome, or the job that is still at work on it. */
export type JobAnswer =
  | { readonly result: Envelope; readonly job: Job }
  | { readonly result: null; readonly job: Job };

export interface Jobs {
  readonly events: EventLog;
  run(request: JobRequest): Promise<JobAnswer>;
  get(owner: string, job_id: string): Job;
  result(owner: string, job_id: string): Envelope | undefined;
  list(filter: JobFilter): readonly Job[];
  /** Resolves when the job changes (an event, or its end) or the time is up. */
  wait(owner: string, job_id: string, fromSeq: number, ms: number, signal: AbortSignal): Promise<Job>;
  /** Resolves when the job has ended or the time is up. */
  ended(owner: string, job_id: string, ms: number, signal: AbortSignal): Promise<Job>;
  /** Ends the work, and resolves when it has ended. */
  cancel(owner: string, job_id: string): Promise<Job>;
  /** Cancels everything; for a server that goes down in good order. */
  close(): Promise<void>;
}

interface Live {
  job: Job;
  /** Whether the caller knows of the job, or will, so that it may ask for its result. */
  wanted: boolean;
  /** Whether the caller was told of it. */
  acknowledged: boolean;
  readonly controller: AbortController;
  readonly detached: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<Envelope>;
}

export function createJobs(options: { store: JobStore; clock: Clock; events: EventLog }): Jobs {
  const { store, clock, events } = options;
  const live = new Map<string, Live>();
  /** What is to be written of jobs that no caller knows of. */
  const unstored = new Map<string, () => void>();

  const find = (owner: string, job_id: string): Job => {
    const running = live.get(job_id);
    const job = running?.job.owner === owner ? running.job : stored().get(owner, job_id);
    if (job) return job;
    throw new ToolError("NOT_FOUND", `there is no job ${job_id}; job.list shows yours`, { id: job_id });
  };

  const start = (request: JobRequest): Live => {
    const entry: Live = {
      job: newJob(request, clock.now()),
      wanted: request.patienceMs <= FAILURE_MS,
      acknowledged: false,
      controller: new AbortController(),
      detached: Promise.withResolvers(),
      ended: Promise.withResolvers(),
    };
    live.set(entry.job.job_id, entry);
    events.publish(entry.job.job_id, { type: "start" });
    void work(request, entry).then(entry.ended.resolve, entry.ended.reject);
    const put = () => store.put(entry.job, { durable: false });
    if (entry.job.key === null) storeLater(entry, put);
    // From now on other processes of the workspace must see that the key is taken.
    else unlessKnown(entry, put);
    return entry;
  };

  const work = async (request: JobRequest, entry: Live): Promise<Envelope> => {
    const { job_id } = entry.job;
    const emit = (chunk: StreamChunk) => {
      if (chunk.kind === "progress") {
        const { kind: _kind, ...progress } = chunk;
        entry.job = { ...entry.job, progress, updated_at: clock.now() };
      }
      events.publish(job_id, { type: "chunk", chunk });
    };
    const { signal } = entry.controller;
    const result = await request.work({ job_id, signal, emit, detach: entry.detached.resolve });
    const state = result.ok ? "complete" : result.error.code === "CANCELLED" ? "cancelled" : "failed";
    const now = clock.now();
    entry.job = { ...entry.job, state, updated_at: now, expires_at: now + TTL_MS };
    const { wanted } = entry;
    const kept = wanted || entry.job.key !== null || !result.ok;
    const finish = () => store.finish(entry.job, kept ? result : null, { durable: wanted });
    if (wanted || entry.job.key !== null) unlessKnown(entry, () => storeNow(entry, finish));
    else storeLater(entry, finish);
    live.delete(job_id);
    events.publish(job_id, { type: "end", state });
    return result;
  };

  /** Nobody asks for a job that was answered, so its caller need not wait until that is stored. */
  const storeLater = ({ job }: Live, write: () => void) => {
    if (unstored.size === 0) void clock.sleep(STORE_AFTER_MS, never).then(storeWaiting);
    unstored.set(job.job_id, write);
  };
  const storeNow = ({ job }: Live, write: () => void) => {
    unstored.delete(job.job_id);
    write();
  };
  const storeWaiting = () => {
    const writes = [...unstored.values()];
    unstored.clear();
    if (writes.length === 0) return;
    unlessKnown({ acknowledged: false }, () =>
      store.together(() => {
        for (const write of writes) write();
      }),
    );
  };
  /** As if nothing were ever delayed. */
  const stored = (): JobStore => {
    storeWaiting();
    return store;
  };

  /** A job may be cancelled from another process of the workspace, which knows it by the store only. */
  const heedOthers = async ({ job, controller, ended }: Live) => {
    const over = new AbortController();
    void ended.promise.then(() => over.abort());
    while (live.has(job.job_id)) {
      await clock.sleep(HEED_EVERY_MS, over.signal);
      if (live.has(job.job_id) && store.isAskedToCancel(job.job_id)) controller.abort(cancelled());
    }
  };

  /** Looks at a job that another process runs, again and again. */
  const watchElsewhere = async (owner: string, job_id: string, ms: number, signal: AbortSignal) => {
    const until = clock.now() + ms;
    while (!signal.aborted && clock.now() < until && isUnfinished(find(owner, job_id)))
      await clock.sleep(Math.min(LOOK_EVERY_MS, until - clock.now()), signal);
    return find(owner, job_id);
  };

  return {
    events,
    async run(request) {
      const known = request.key === undefined ? undefined : stored().byKey(request.owner, request.key);
      if (known) checkSameCall(known, request);
      const before = known && live.get(known.job_id);
      if (known && !before) return { job: known, result: store.result(known.job_id) ?? null };
      const entry = before ?? start(request);
      const cancel = () => entry.controller.abort(request.signal.reason);
      // Until the job id is known to the caller, its going away ends the work.
      if (!before) request.signal.addEventListener("abort", cancel, { once: true });
      const result = await patiently(entry, request.patienceMs, clock);
      request.signal.removeEventListener("abort", cancel);
      if (result) return { job: entry.job, result };
      try {
        storeNow(entry, () => store.put(entry.job, { durable: true }));
      } catch (cause) {
        entry.controller.abort(cause);
        throw cause;
      }
      if (!entry.acknowledged) void heedOthers(entry);
      entry.wanted = true;
      entry.acknowledged = true;
      return { job: entry.job, result: null };
    },
    get: find,
    result(owner, job_id) {
      find(owner, job_id);
      return stored().result(job_id);
    },
    list: (filter) =>
      stored()
        .list(filter)
        .map((job) => live.get(job.job_id)?.job ?? job),
    async wait(owner, job_id, fromSeq, ms, signal) {
      find(owner, job_id);
      if (!live.has(job_id)) return watchElsewhere(owner, job_id, ms, signal);
      if (events.read(fromSeq, job_id).events.length === 0) {
        const changed = new AbortController();
        const stop = events.subscribe((event) => event.job_id === job_id && changed.abort());
        await clock.sleep(ms, AbortSignal.any([signal, changed.signal]));
        stop();
      }
      return find(owner, job_id);
    },
    async ended(owner, job_id, ms, signal) {
      find(owner, job_id);
      const entry = live.get(job_id);
      if (!entry) return watchElsewhere(owner, job_id, ms, signal);
      const enough = new AbortController();
      const tired = clock.sleep(ms, AbortSignal.any([signal, enough.signal]));
      await Promise.race([entry.ended.promise, tired]);
      enough.abort(ENOUGH);
      return find(owner, job_id);
    },
    async cancel(owner, job_id) {
      find(owner, job_id);
      const entry = live.get(job_id);
      if (entry) {
        entry.controller.abort(cancelled());
        await entry.ended.promise;
        return find(owner, job_id);
      }
      if (isUnfinished(find(owner, job_id))) store.askToCancel(job_id);
      return watchElsewhere(owner, job_id, CANCEL_ELSEWHERE_MS, new AbortController().signal);
    },
    async close() {
      const running = [...live.values()];
      for (const { controller } of running)
        controller.abort(new ToolError("CANCELLED", "the server stops", {}));
      await Promise.allSettled(running.map(({ ended }) => ended.promise));
      storeWaiting();
    },
  };
}

/** A store that fails must not cost a caller the answer to a call that nobody else knows to be a job. */
function unlessKnown({ acknowledged }: Pick<Live, "acknowledged">, write: () => void): void {
  try {
    write();
  } catch (cause) {
    if (acknowledged) throw cause;
  }
}

const newJob = ({ tool, action, owner, key, digest }: JobRequest, now: number): Job => ({
  job_id: newHandle("job", now),
  tool,
  action,
  owner,
  state: "running",
  progress: null,
  created_at: now,
  updated_at: now,
  expires_at: now + TTL_MS,
  key: key ?? null,
  digest: digest ?? null,
});

function checkSameCall({ tool, action, digest, key }: Job, request: JobRequest): void {
  if (tool === request.tool && action === request.action && digest === (request.digest ?? null)) return;
  const message = `the key '${key}' belongs to another call, of ${tool}.${action}; take a new one`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "key", message }] });
}

/** The outcome if it comes in time, and is one to wait for. */
async function patiently({ ended, detached }: Live, ms: number, clock: Clock): Promise<Envelope | undefined> {
  if (ms <= 0) return undefined;
  const enough = new AbortController();
  const tired = clock.sleep(ms, enough.signal).then(() => undefined);
  try {
    if (ms <= FAILURE_MS) return await Promise.race([ended.promise.then(onlyFailure), tired]);
    return await Promise.race([ended.promise, detached.promise.then(() => undefined), tired]);
  } finally {
    enough.abort(ENOUGH);
  }
}

const onlyFailure = (result: Envelope): Envelope | undefined => (result.ok ? undefined : result);
