import type { Envelope } from "../envelope.ts";
import { newHandle } from "../ids.ts";
import type { Progress } from "../tool.ts";
import type { JobRequest } from "./request.ts";

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

const TTL_MS = 24 * 60 * 60 * 1000;

export const newJob = ({ tool, action, owner, key, digest }: JobRequest, now: number): Job => ({
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
