import type { Envelope } from "../envelope.ts";
import type { StreamChunk } from "../stream.ts";
import type { Job } from "./job.ts";

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

/** What the work sees of its job. */
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
