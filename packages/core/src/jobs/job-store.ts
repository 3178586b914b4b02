import type { Envelope } from "../envelope.ts";
import type { Job, JobState } from "./job.ts";

/** Where jobs outlive the process. What is written `durable` is on the disk before the call returns. */
export interface JobStore {
  put(job: Job, options: { readonly durable: boolean }): void;
  /** Without a result the outcome was answered already, and nobody will ask for it. */
  finish(job: Job, result: Envelope | null, options: { readonly durable: boolean }): void;
  get(owner: string, job_id: string): Job | undefined;
  result(job_id: string): Envelope | undefined;
  byKey(owner: string, key: string): Job | undefined;
  list(filter: JobFilter): readonly Job[];
  /** Writes that take little longer together than one of them alone. */
  together(writes: () => void): void;
  /** Asks the process that runs the job, whichever it is, to end it. */
  askToCancel(job_id: string): void;
  isAskedToCancel(job_id: string): boolean;
  /** Makes the jobs of a process that died fail with INTERRUPTED, and forgets the expired; answers how many failed. */
  recover(now: number): number;
}

export interface JobFilter {
  readonly owner: string;
  readonly state?: JobState;
  readonly tool?: string;
  /** Made at this time or later. */
  readonly since?: number;
  /** Jobs made before this one; they come newest first. */
  readonly before?: string;
  readonly limit: number;
}
