import { JOB_STATES, type Job, JobId } from "@octant/core";
import { z } from "zod";

export const JobView = z.object({
  job_id: JobId,
  tool: z.string(),
  action: z.string(),
  state: z.enum(JOB_STATES),
  progress: z
    .object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() })
    .nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});

/** A job as shown to its owner. */
export const toJobView = ({
  caller: _caller,
  input: _input,
  key: _key,
  digest: _digest,
  created_at,
  updated_at,
  expires_at,
  ...job
}: Job) => ({
  ...job,
  created_at: toTimestamp(created_at),
  updated_at: toTimestamp(updated_at),
  expires_at: toTimestamp(expires_at),
});

const toTimestamp = (ms: number) => new Date(ms).toISOString();

/** The outcome of a finished job: an envelope, as the call itself would have returned. */
export const JobResult = z.unknown().optional().describe("The call's result; absent while the job runs");

export const EXAMPLE_JOB = "job_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";
