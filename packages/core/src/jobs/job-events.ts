import { chunkBytes, type StreamChunk } from "../stream.ts";
import { createTopic, type Topic } from "../topic.ts";

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
