import type { Envelope } from "../envelope.ts";
import { newHandle } from "../ids.ts";
import type { Caller, Progress } from "../tool.ts";

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

const TTL_MS = 24 * 60 * 60 * 1000;

export const newJob = (call: JobCall, digest: string | null, now: number): Job => ({
  ...call,
  digest,
  job_id: newHandle("job", now),
  state: "queued",
  progress: null,
  created_at: now,
  updated_at: now,
  expires_at: now + TTL_MS,
});

export const isUnfinished = ({ state }: Job): boolean => state === "queued" || state === "running";

export const withProgress = (job: Job, progress: Progress, now: number): Job => ({
  ...job,
  progress,
  updated_at: now,
});

export const withEnd = (job: Job, state: EndState, now: number): Job => ({
  ...job,
  state,
  updated_at: now,
  expires_at: now + TTL_MS,
});

type EndState = Exclude<JobState, "queued" | "running">;

export function toEndState(result: Envelope): EndState {
  if (result.ok) return "complete";
  return result.error.code === "CANCELLED" ? "cancelled" : "failed";
}
