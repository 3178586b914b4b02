import { action, JOB_STATES, JobId, type Jobs, pagingInput } from "@octant/core";
import { z } from "zod";
import { JobView, toJobView } from "./job-view.ts";
import { jobsText } from "./text.ts";

export const list = (jobs: Jobs) =>
  action({
    summary: "List your jobs, newest first.",
    access: "read",
    timing: "sync",
    intent: "inspect",
    input: z.strictObject({
      status: z.enum(JOB_STATES).optional().describe("Only those in this state"),
      tool: z.string().optional().describe("Only those of this tool"),
      max_age: z.int().min(0).optional().describe("Maximum age in milliseconds"),
      ...pagingInput(50, 1000),
    }),
    output: z.object({ jobs: z.array(JobView) }),
    errors: ["INVALID_CURSOR"],
    examples: [{ title: "Failed jobs", input: { status: "failed" } }],
    text: jobsText,
    async run({ status, tool, max_age, limit }, ctx) {
      const since = max_age === undefined ? undefined : Date.now() - max_age;
      const before = ctx.resume(JobId);
      const filter = { owner: ctx.caller.id, state: status, tool, since, before };
      const found = await jobs.list({ ...filter, limit: limit + 1 });
      const page = found.slice(0, limit);
      if (found.length > limit) ctx.more(page.at(-1)?.job_id);
      return { jobs: page.map(toJobView) };
    },
  });
