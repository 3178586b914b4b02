import { defineTool, type Jobs } from "@octant/core";
import { poll } from "./poll.ts";

export const event = (jobs: Jobs) =>
  defineTool({
    name: "event",
    summary: "State changes and output of your jobs, in order, from any event that is still retained.",
    actions: { poll: poll(jobs) },
  });
