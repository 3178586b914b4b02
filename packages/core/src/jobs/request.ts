import type { Envelope } from "../envelope.ts";
import type { StreamChunk } from "../stream.ts";
import type { Caller } from "../tool.ts";
import type { Job } from "./job.ts";

export interface JobRequest {
  readonly tool: string;
  readonly action: string;
  readonly input: unknown;
  readonly caller: Caller;
  readonly key?: string | undefined;
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
