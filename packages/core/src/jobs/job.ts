import type { Envelope } from "../envelope.ts";
import { newHandle } from "../ids.ts";
import type { Caller, Progress, StreamChunk, Timing } from "../tool.ts";

export const JOB_STATES = ["queued", "running", "complete", "failed", "cancelled"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A call as data, so that any process with the same tools can run it. */
export interface JobCall {
  readonly tool: string;
  readonly action: string;
  /** As the action's schema returned it; null once the job has ended. */
  readonly input: unknown;
  /** Only this caller finds the job; for all others it does not exist. */
  readonly caller: Caller;
  /** The caller's own key: the same call with the same key is the same job. */
  readonly key: string | null;
}

export interface Job extends JobCall {
  readonly job_id: string;
  readonly state: JobState;
  readonly progress: Progress | null;
  readonly created_at: number;
  readonly updated_at: number;
  /** When a finished job is deleted. */
  readonly expires_at: number;
  /** A hash of the input that identifies equal calls; null without a key. */
  readonly digest: string | null;
}

const JOB_TTL_MS = 24 * 60 * 60 * 1000;

/** A job is stored for `ttlMs` after its end. */
export const newJob = (call: JobCall, digest: string | null, now: number, ttlMs = JOB_TTL_MS): Job => ({
  ...call,
  digest,
  job_id: newHandle("job", now),
  state: "queued",
  progress: null,
  created_at: now,
  updated_at: now,
  expires_at: now + ttlMs,
});

export const isUnfinished = ({ state }: Job): boolean => state === "queued" || state === "running";

export function toEndState(result: Envelope): "complete" | "failed" | "cancelled" {
  if (result.ok) return "complete";
  return result.error.code === "CANCELLED" ? "cancelled" : "failed";
}

export interface JobRequest extends Omit<JobCall, "key"> {
  readonly key?: string | undefined;
  /** How long the result is stored; a day when absent. */
  readonly ttlMs?: number | undefined;
  readonly patienceMs: number;
  /** The caller's: aborting it before the job was acknowledged cancels the job. */
  readonly signal: AbortSignal;
  /** Runs the call in this process. Another process that claims the job dispatches the stored call instead. */
  readonly work: JobWork;
}

/** Never rejects: a failure is an envelope, too. */
export type JobWork = (job: RunningJob) => Promise<Envelope>;

/** The job as seen by its work. */
export interface RunningJob {
  readonly job_id: string;
  readonly signal: AbortSignal;
  emit(chunk: StreamChunk): void;
  /** Ends the caller's waiting; the work continues. */
  detach(): void;
}

/** The result, or null when the job is not finished. */
export interface JobAnswer {
  readonly job: Job;
  readonly result: Envelope | null;
}

/** With patience this short only failures are awaited: the caller gets the job unless it failed at once. */
const FAILURE_MS = 50;

/** How long an edge waits for the outcome before it answers with the job. */
export const PATIENCE_MS: Readonly<Record<Exclude<Timing, "sync">, number>> = {
  async_short: 30_000,
  async_medium: 120_000,
  async_long: FAILURE_MS,
  fire_and_forget: 0,
};

/** Whether the caller receives the job even if it succeeds quickly. */
export const asksForJob = (patienceMs: number): boolean => patienceMs <= FAILURE_MS;
