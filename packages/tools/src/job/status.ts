import { action, JobId, type Jobs } from "@octant/core";
import { z } from "zod";
import { EXAMPLE_JOB, JobResult, JobView, toJobView } from "./job-view.ts";
import { jobText } from "./text.ts";

export const status = (jobs: Jobs) =>
  action({
    summary: "Show a job's state, and its result once it has ended.",
    access: "read",
    timing: "sync",
    intent: "inspect",
    input: z.strictObject({ job_id: JobId.optional().describe("Absent: count jobs by state") }),
    output: z.object({
      job: JobView.optional(),
      result: JobResult,
      counts: z.record(z.string(), z.int()).optional(),
    }),
    errors: ["NOT_FOUND"],
    examples: [
      { title: "Count jobs by state", input: {} },
      { title: "Check one job", input: { job_id: EXAMPLE_JOB }, fails: "NOT_FOUND" },
    ],
    text: jobText,
    async run({ job_id }, { caller }) {
      if (job_id === undefined) return { counts: await countStates(jobs, caller.id) };
      const job = toJobView(await jobs.get(caller.id, job_id));
      return { job, result: await jobs.result(caller.id, job_id) };
    },
  });

const MAX_COUNTED = 10_000;

async function countStates(jobs: Jobs, owner: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { state } of await jobs.list({ owner, limit: MAX_COUNTED }))
    counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
