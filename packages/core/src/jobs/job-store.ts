import type { Envelope } from "../envelope.ts";
import type { Job, JobState } from "./job.ts";

/** `durable`: on the disk before the promise resolves. `isOpen`: while it is queued, any process may claim it. */
export interface JobWrite {
  readonly durable: boolean;
  readonly isOpen: boolean;
}

/** Jobs outlive the process here, in the order in which they were added. Several processes may share a store. */
export interface JobStore {
  /** Stores a new job before it runs. Returns the earlier job when the caller used its key before. */
  add(job: Job, write: JobWrite): Promise<Job>;
  update(job: Job, write: JobWrite): Promise<void>;
  /** Claims one queued job for this process: the named one, or the oldest open one of these tools. */
  claim(which: JobClaim, now: number): Promise<Job | undefined>;
  /** Ends a job and deletes its input. A null result was answered inline and will not be polled. */
  finish(job: Job, result: Envelope | null, write: { readonly durable: boolean }): Promise<void>;
  get(owner: JobOwner, job_id: string): Promise<Job | undefined>;
  result(job_id: string): Promise<Envelope | undefined>;
  /** Newest first. */
  list(filter: JobFilter): Promise<readonly Job[]>;
  /** Asks the process that runs the job to cancel it. */
  requestCancel(job_id: string): Promise<void>;
  isCancelRequested(job_id: string): Promise<boolean>;
  /** Fails the jobs of processes that died with INTERRUPTED and deletes expired ones; returns how many failed. */
  recover(now: number): Promise<number>;
}

/** A caller's id; null for jobs of every caller. */
export type JobOwner = string | null;

export type JobClaim = { readonly job_id: string } | { readonly tools: readonly string[] };

export interface JobFilter {
  readonly owner: JobOwner;
  readonly state?: JobState;
  readonly tool?: string;
  /** Created at this time or later. */
  readonly since?: number;
  /** Jobs added before this one. */
  readonly before?: string;
  readonly limit: number;
}
