import { action, JobId, type Jobs } from "@octant/core";
import { z } from "zod";
import { EXAMPLE_JOB, JobView, toJobView } from "./job-view.ts";
import { jobText } from "./text.ts";

export const cancel = (jobs: Jobs) =>
  action({
    summary: "Cancel a job and every process it started.",
    access: "write",
    timing: "sync",
    intent: "verify",
    destructive: true,
    input: z.strictObject({ job_id: JobId }),
    output: z.object({ job: JobView }),
    errors: ["NOT_FOUND"],
    examples: [{ title: "Cancel a job", input: { job_id: EXAMPLE_JOB }, fails: "NOT_FOUND" }],
    text: jobText,
    run: async ({ job_id }, { caller }) => ({ job: toJobView(await jobs.cancel(caller.id, job_id)) }),
  });
