import type { Envelope, Job } from "@octant/core";
import { isPlain, type Plain } from "../messages.ts";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** How often a client should poll. */
const POLL_INTERVAL_MS = 1_000;

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** A job in terms of the protocol, before a revision names its members. */
export interface Task {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttl: number;
}

export const isFinal = ({ status }: Task): boolean => status !== "working" && status !== "input_required";

/** Whether a client declared support for tasks. */
export function knowsTasks(capabilities: unknown): boolean {
  const extensions = isPlain(capabilities) ? capabilities["extensions"] : undefined;
  return isPlain(extensions) && isPlain(extensions[TASKS_EXTENSION]);
}

/** The job that an answer stands for; undefined when the answer has more than the job. */
export function jobOf({ ok, data, meta }: Envelope): string | undefined {
  return ok && isPlain(data) && data["job_id"] === meta.job_id ? meta.job_id : undefined;
}

/** The part of a job that a task shows. */
export type TaskJob = Pick<Job, "job_id" | "state" | "progress" | "created_at" | "updated_at" | "expires_at">;

export function toTask(job: TaskJob, result: Envelope | undefined, waits: boolean): Task {
  const message = job.progress?.message;
  return {
    taskId: job.job_id,
    status: statusOf(job, result, waits),
    ...(message !== undefined && { statusMessage: message }),
    createdAt: toTimestamp(job.created_at),
    lastUpdatedAt: toTimestamp(job.updated_at),
    ttl: job.expires_at - job.created_at,
  };
}

/** Work that failed by itself is completed, and its result says so; "failed" means that there is no result. */
function statusOf({ state }: TaskJob, result: Envelope | undefined, waits: boolean): TaskStatus {
  if (state === "cancelled") return "cancelled";
  if (state === "complete") return "completed";
  if (state === "failed") return result && !isBroken(result) ? "completed" : "failed";
  return waits ? "input_required" : "working";
}

const isBroken = ({ error }: Envelope) => error?.code === "INTERNAL" || error?.code === "INTERRUPTED";

export const toTimestamp = (ms: number): string => new Date(ms).toISOString();

/** The members as the extension names them. */
export const toModernTask = ({ ttl, ...task }: Task): Plain => ({
  ...task,
  ttlMs: ttl,
  pollIntervalMs: POLL_INTERVAL_MS,
});

/** The members as revision 2025-11-25 names them. */
export const toLegacyTask = (task: Task): Plain => ({ ...task, pollInterval: POLL_INTERVAL_MS });
