import { action, defineTool, pagingInput, RunId } from "@octant/core";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { createRunnerProbe } from "./backends.ts";
import { list } from "./list.ts";
import { RunResult, resultText, toResult } from "./result.ts";
import { run } from "./run.ts";
import type { TestOptions } from "./runner.ts";
import { createRuns, type Runs } from "./runs.ts";

export type { TestOptions } from "./runner.ts";

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

const EXAMPLE_RUN = "run_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";

const status = (runs: Runs) =>
  action({
    summary: "Show a test run's progress and its failures, page by page.",
    ...INSPECT,
    input: z.strictObject({ run_id: RunId, ...pagingInput(20, 200) }),
    output: RunResult,
    errors: ["NOT_FOUND", "INVALID_CURSOR"],
    examples: [{ title: "Read the result", input: { run_id: EXAMPLE_RUN }, fails: "NOT_FOUND" }],
    text: resultText,
    run({ run_id, limit }, ctx) {
      const { summary, failures } = runs.get(ctx.caller.id, run_id);
      const from = ctx.resume(z.int().min(0)) ?? 0;
      const result = toResult(summary, failures, from, limit);
      if (result.more_failures > 0) ctx.more(from + result.failures.length);
      return result;
    },
  });
