import type { StreamChunk } from "../stream.ts";
import type { Published } from "../topic.ts";
import type { JobState } from "./job.ts";
import type { JobEvent } from "./job-events.ts";

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
