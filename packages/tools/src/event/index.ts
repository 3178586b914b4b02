import { defineTool, type Jobs } from "@octant/core";
import { poll } from "./poll.ts";

export const event = (jobs: Jobs) =>
  defineTool({
    name: "event",
    summary: "State changes and output of your jobs, in order.",
    actions: { poll: poll(jobs) },
  });
