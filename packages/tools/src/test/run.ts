import { action, type Context, ToolError } from "@octant/core";
import { z } from "zod";
import type { Outcome, TestCase } from "./case.ts";
import { notRun, type SuiteOutcome } from "./outcome.ts";
import { allFailures, RunResult, resultText, sum, summarise, toResult } from "./result.ts";
import type { TestOptions } from "./runner.ts";
import { emptySummary, type LiveRun, type Runs } from "./runs.ts";
import type { Suite, Work } from "./suites.ts";

const DEFAULT_TIMEOUT_MS = 10 * 60 * 1000;
const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1000;
const MAX_WORKERS = 256;
const MAX_FILTER_CHARS = 4_096;
const FIRST_FAILURES = 20;

const Input = z.strictObject({
  suite: z
    .string()
    .min(1)
    .optional()
    .describe("Suite from test.list, package, folder or runner; default all"),
  filter: z
    .string()
    .min(1)
    .max(MAX_FILTER_CHARS)
    .regex(/^[^\0]*$/, "no NUL byte")
    .optional()
    .describe("Part of a test's name, or a test file"),
  last_failed: z.boolean().default(false).describe("Only the last failures"),
  parallel: z.int().min(1).max(MAX_WORKERS).optional().describe("Workers, if the runner supports it"),
  coverage: z
    .boolean()
    .default(false)
    .describe("If the runner supports it; the report is in output_ref or a file"),
  timeout: z.int().min(1).max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS).describe("Milliseconds per suite"),
});
export type TestInput = z.output<typeof Input>;

export const run = (options: TestOptions, runs: Runs) =>
  action({
    summary: "Run tests and report what failed, where and why; progress is streamed per test.",
    access: "write",
    timing: "async_long",
    intent: "verify",
    unaskedIn: "sandbox",
    destructive: true,
    openWorld: true,
    runsCommands: true,
    input: Input,
    output: RunResult,
    errors: ["NOT_FOUND", "UNSUPPORTED", "LIMIT_EXCEEDED"],
    examples: [
      { title: "All tests", input: {} },
      { title: "By name", input: { filter: "adds" } },
    ],
    text: resultText,
    async run(input, ctx) {
      const live = runs.begin(ctx.caller.id);
      // The run can be queried by its id while it runs.
      ctx.detach(toResult(emptySummary(live.run_id), [], 0, 0));
      const outcomes: SuiteOutcome[] = [];
      try {
        // The runners are loaded here, because most servers run no tests.
        const { findSuites, toWork } = await import("./suites.ts");
        const { confinement } = options.workspace;
        const suites = await findSuites(confinement, ctx.signal);
        const work = toWork(input, suites, confinement, (suite) => runs.lastFailed(ctx.caller.id, suite));
        for (const part of work) {
          const outcome = runSuite(options, runs, live, input, part, outcomes, ctx);
          outcomes.push(await (work.length > 1 ? outcome.catch(explain(part.suite)) : outcome));
        }
      } catch (cause) {
        const status = ctx.signal.aborted ? "cancelled" : "crashed";
        const reason = cause instanceof ToolError ? cause.message : "it did not finish";
        live.end({ ...summarise(live.run_id, outcomes), status, reason }, allFailures(outcomes));
        throw cause;
      }
      const summary = summarise(live.run_id, outcomes);
      const failures = allFailures(outcomes);
      live.end(summary, failures);
      const { status, pass, fail, skip } = summary;
      // A list of jobs shows it: all tests may pass and the runner still fail.
      ctx.progress({ progress: pass + fail + skip, message: `${status}: ${toCounts(summary)}` });
      const unconfined = await options.workspace.sandbox?.unconfined();
      return {
        ...toResult(summary, failures, 0, FIRST_FAILURES),
        ...(unconfined && { note: unconfined.note }),
      };
    },
  });

/** With several suites, a missing runner is reported with the others. */
const explain =
  (suite: Suite) =>
  (cause: unknown): SuiteOutcome => {
    if (cause instanceof ToolError && cause.code === "UNSUPPORTED") return notRun(suite, cause.message);
    throw cause;
  };

async function runSuite(
  options: TestOptions,
  runs: Runs,
  live: LiveRun,
  input: TestInput,
  { suite, selection }: Work,
  before: readonly SuiteOutcome[],
  ctx: Context,
): Promise<SuiteOutcome> {
  const owner = ctx.caller.id;
  ctx.backend(suite.runner);
  const soFar = summarise(live.run_id, before);
  const progress = createProgress(ctx, suite, (counts) => {
    live.update({ ...soFar, ...sum(soFar, counts), status: "running" });
  });
  const { execute } = await import("./execute.ts");
  const outcome = await execute(options, {
    suite,
    selection,
    workers: input.parallel,
    coverage: input.coverage,
    timeoutMs: input.timeout,
    owner,
    signal: ctx.signal,
    onTest: progress.test,
  });
  progress.end();
  // A run without tests says nothing about earlier failures.
  if (outcome.result.pass + outcome.result.fail > 0) runs.storeFailed(owner, suite.id, outcome.failed);
  return outcome;
}

const toCounts = ({ pass, fail, skip }: Readonly<Record<Outcome, number>>): string =>
  `${pass} passed, ${fail} failed, ${skip} skipped`;

/** Minimum interval between progress updates. */
const EVERY_MS = 100;
const MAX_LINE_CHARS = 500;

/** Reports each test as a line of the job's log, and the suite's progress. */
function createProgress(
  ctx: Context,
  suite: Suite,
  onCounts: (counts: Readonly<Record<Outcome, number>>) => void,
) {
  const counts = { pass: 0, fail: 0, skip: 0 };
  let reportedAt = Number.NEGATIVE_INFINITY;
  const report = () => {
    const { pass, fail, skip } = counts;
    const message = `${suite.id}: ${toCounts(counts)}`;
    ctx.progress({ progress: pass + fail + skip, message });
    onCounts({ ...counts });
  };
  return {
    test({ outcome, suite: outer, name, durationMs }: TestCase) {
      counts[outcome] += 1;
      const time = durationMs === undefined ? "" : ` (${Math.round(durationMs)} ms)`;
      const line = `${outcome} ${[...outer, name].join(" > ").slice(0, MAX_LINE_CHARS)}${time}`;
      ctx.emit({ kind: "log", line });
      const now = performance.now();
      if (now - reportedAt < EVERY_MS) return;
      reportedAt = now;
      report();
    },
    end: report,
  };
}
