import { Range, Ref, RunId, Uri } from "@octant/core";
import { z } from "zod";

const RUN_STATUSES = [
  "running",
  "passed",
  "failed",
  "no_tests",
  "crashed",
  "timed_out",
  "cancelled",
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const Failure = z.object({
  name: z.string().describe("Test name, or the file that failed to load"),
  suite: z.array(z.string()).optional().describe("Enclosing suites, outermost first"),
  message: z.string(),
  uri: Uri.optional(),
  range: Range.optional(),
  expected: z.string().optional(),
  actual: z.string().optional(),
  stack: z.string().optional(),
  of: z.string().optional().describe("The suite, when several were run"),
});
export type Failure = z.output<typeof Failure>;

const counts = {
  status: z
    .enum(RUN_STATUSES)
    .describe("crashed: tests could not run; no_tests: no test ran; failed: tests failed"),
  reason: z.string().optional().describe("Explains the status"),
  pass: z.int(),
  fail: z.int(),
  skip: z.int(),
  duration: z.number().describe("Milliseconds"),
};

export const SuiteResult = z.object({
  suite: z.string(),
  package: z.string(),
  runner: z.string(),
  command: z.array(z.string()).describe("Command line for the whole suite"),
  ...counts,
  output_ref: Ref.optional().describe("The runner's output, for fs.read"),
  stderr_ref: Ref.optional(),
});
export type SuiteResult = z.output<typeof SuiteResult>;

export const RunResult = z.object({
  run_id: RunId,
  ...counts,
  failures: z.array(Failure),
  more_failures: z.int().describe("Failures omitted; test.status with this run_id pages through all"),
  suites: z.array(SuiteResult).describe("Most failures first"),
  more_suites: z.int().describe("Suites omitted; none has more failures than those shown"),
});
export type RunResult = z.output<typeof RunResult>;

/** Worst first: the worst status is that of the whole run. */
const BY_WEIGHT: readonly RunStatus[] = [
  "cancelled",
  "crashed",
  "timed_out",
  "failed",
  "running",
  "passed",
  "no_tests",
];

export const bySeverity = (a: { status: RunStatus }, b: { status: RunStatus }): number =>
  BY_WEIGHT.indexOf(a.status) - BY_WEIGHT.indexOf(b.status);

export const worstOf = (statuses: readonly RunStatus[]): RunStatus =>
  BY_WEIGHT.find((status) => statuses.includes(status)) ?? "no_tests";
