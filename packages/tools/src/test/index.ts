import { defineTool } from "@octant/core";
import { createRunnerProbe } from "./backends.ts";
import { list } from "./list.ts";
import type { TestOptions } from "./options.ts";
import { run } from "./run.ts";
import { createRuns } from "./runs.ts";
import { status } from "./status.ts";

export type { TestOptions } from "./options.ts";

/** Runs tests of any runner and parses the results: a preset over processes. */
export const test = (options: TestOptions) => {
  const runs = createRuns(options.workspace.state);
  return defineTool({
    name: "test",
    summary: "Run the project's tests with its own runner and read the results.",
    actions: { list: list(options), run: run(options, runs), status: status(runs) },
    backends: createRunnerProbe(options),
  });
};
