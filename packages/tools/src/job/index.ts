import { defineTool, type Jobs } from "@octant/core";
import { cancel } from "./cancel.ts";
import { list } from "./list.ts";
import { poll } from "./poll.ts";
import { status } from "./status.ts";

export const job = (jobs: Jobs) =>
  defineTool({
    name: "job",
    summary: "Background jobs: inspect, wait for and cancel them.",
    actions: { status: status(jobs), list: list(jobs), poll: poll(jobs), cancel: cancel(jobs) },
  });
