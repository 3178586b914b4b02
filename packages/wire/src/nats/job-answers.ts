import { type Call, type CallOptions, type Envelope, type Reply, toTraceId } from "@octant/core";
import type { JobResult, QueuedJob } from "./job-queue.ts";

/** As edges have it: times in milliseconds. */
export const toFacts = ({ owner: _owner, result: _result, ...facts }: QueuedJob) => ({
  ...facts,
  progress: null,
});

/** In the form of job.status. */
export function toView(job: QueuedJob) {
  const { created_at, updated_at, expires_at, ...facts } = toFacts(job);
  const at = (ms: number) => new Date(ms).toISOString();
  return { ...facts, created_at: at(created_at), updated_at: at(updated_at), expires_at: at(expires_at) };
}

type JobView = Omit<ReturnType<typeof toView>, "progress">;

/** The job in one line, then its result as the call itself would have returned it, like job.poll elsewhere. */
export const toJobText = (job: JobView, result: string | undefined): string =>
  `${toLine(job)}\n${result ?? `[job ${job.job_id}]`}`;

export const toJobsText = (jobs: readonly JobView[]): string =>
  jobs.map((job) => `${job.job_id}  ${toLine(job)}`).join("\n") || "no jobs";

const toLine = ({ tool, action, state, created_at }: JobView): string =>
  `${tool}.${action}: ${state}, started ${created_at}`;

export const toJobReply = ({ text, ...envelope }: JobResult): Reply => ({
  // What remains without `text` is an envelope; TypeScript loses the discriminant of a union in a rest element.
  envelope: envelope as Envelope,
  attachments: [],
  ...(text !== undefined && { text }),
});

export const readField = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

const DEFAULT_WAIT_MS = 20_000;
const MAX_WAIT_MS = 50_000;

export function toWait(given: unknown): number {
  const wait = given === undefined ? DEFAULT_WAIT_MS : Number(given);
  return Number.isFinite(wait) ? Math.min(Math.max(0, wait), MAX_WAIT_MS) : DEFAULT_WAIT_MS;
}

export const toStarted = (
  { tool, action }: Call,
  job_id: string,
  { traceparent }: CallOptions,
  isTaken: boolean,
): Envelope => ({
  ok: true,
  data: {
    job_id,
    state: isTaken ? "running" : "queued",
    note: `${isTaken ? "still running" : "waiting for a worker"}; job.poll with this job_id waits for the result, job.cancel ends it`,
  },
  error: null,
  meta: {
    tool,
    action: String(action),
    trace_id: toTraceId(traceparent),
    job_id,
    paging: { cursor: null, more: false },
  },
});
