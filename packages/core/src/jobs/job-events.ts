import type { StreamChunk } from "../tool.ts";
import { createTopic, type Published, type Topic } from "../topic.ts";
import type { JobState } from "./job.ts";

/** The life of a job as its readers see it. */
export type JobEvent = {
  readonly job_id: string;
  /** Only this caller may read the event. */
  readonly owner: string;
} & (
  | { readonly type: "queued" }
  | { readonly type: "start" }
  | { readonly type: "chunk"; readonly chunk: StreamChunk }
  | { readonly type: "end"; readonly state: "complete" | "failed" | "cancelled" }
);

const MAX_EVENTS = 16_384;
const MAX_BYTES = 8 * 1024 * 1024;
const EVENT_BYTES = 64;

/** The events of all jobs of this process, in order. */
export const createJobEvents = (now?: () => number): Topic<JobEvent> =>
  createTopic({
    ...(now && { now }),
    maxEvents: MAX_EVENTS,
    maxBytes: MAX_BYTES,
    sizeOf: (event) => EVENT_BYTES + (event.type === "chunk" ? chunkBytes(event.chunk) : 0),
  });

/** A job event as its owner reads it, in a broadcast or with event.poll. */
export type JobEventView = { readonly seq: number; readonly at: number; readonly job_id: string } & (
  | { readonly event: "job_state"; readonly state: JobState }
  | { readonly event: "stream_chunk"; readonly chunk: StreamChunk }
);

export function toEventView({ seq, at, value }: Published<JobEvent>): JobEventView {
  const { job_id } = value;
  if (value.type === "chunk") return { seq, at, job_id, event: "stream_chunk", chunk: value.chunk };
  return { seq, at, job_id, event: "job_state", state: toState(value) };
}

function toState(event: Exclude<JobEvent, { readonly type: "chunk" }>): JobState {
  if (event.type === "end") return event.state;
  return event.type === "start" ? "running" : "queued";
}

const CHUNK_OVERHEAD_BYTES = 64;

/** The memory that a chunk takes, roughly. */
function chunkBytes(chunk: StreamChunk): number {
  if (chunk.kind === "binary") return CHUNK_OVERHEAD_BYTES + chunk.bytes.byteLength;
  if (chunk.kind === "missing") return CHUNK_OVERHEAD_BYTES;
  const text = chunk.kind === "log" ? chunk.line : chunk.kind === "text" ? chunk.text : (chunk.message ?? "");
  return CHUNK_OVERHEAD_BYTES + text.length * 2;
}
