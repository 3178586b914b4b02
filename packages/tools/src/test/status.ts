import { action, pagingInput, RunId } from "@octant/core";
import { z } from "zod";
import { RunResult } from "./result.ts";
import type { Runs } from "./runs.ts";
import { toResult } from "./summary.ts";
import { resultText } from "./text.ts";

const EXAMPLE_RUN = "run_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";

export const status = (runs: Runs) =>
  action({
    summary: "Show a test run's progress and its failures, page by page.",
    access: "read",
    timing: "sync",
    intent: "inspect",
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
