import { type ActionText, counted, Range, type Reader, Ref, RunId, Uri } from "@octant/core";
import { z } from "zod";
import { spotOf } from "../place-lines.ts";
import { withinBudget } from "../within-budget.ts";
import type { SuiteOutcome } from "./outcome.ts";
import type { Summary } from "./runs.ts";

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
  note: z.string().optional().describe("Remarks about how they ran"),
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

const bySeverity = (a: { status: RunStatus }, b: { status: RunStatus }): number =>
  BY_WEIGHT.indexOf(a.status) - BY_WEIGHT.indexOf(b.status);

/** Together within the answer budget. */
const FAILURES_BYTES = 18_000;
const SUITES_BYTES = 10_000;
const MAX_SUITES = 100;

/** The part of a run that one answer holds: all totals, some suites, a page of failures. */
export function toResult(
  summary: Summary,
  failures: readonly Failure[],
  from: number,
  limit: number,
): RunResult {
  const page = withinBudget(failures.slice(from, from + limit), FAILURES_BYTES);
  const suites = withinBudget(summary.suites.slice(0, MAX_SUITES), SUITES_BYTES);
  return {
    ...summary,
    suites,
    more_suites: summary.suites.length - suites.length,
    failures: page,
    more_failures: failures.length - from - page.length,
  };
}

export interface Counts {
  readonly pass: number;
  readonly fail: number;
  readonly skip: number;
}

export const sum = (a: Counts, b: Counts): Counts => ({
  pass: a.pass + b.pass,
  fail: a.fail + b.fail,
  skip: a.skip + b.skip,
});

/** A run as the sum of its suites. */
export function summarise(run_id: string, outcomes: readonly SuiteOutcome[]): Summary {
  const suites = outcomes.map(({ result }) => result).sort(bySeverity);
  const { status = "no_tests", reason }: Partial<SuiteResult> = suites[0] ?? {};
  return {
    run_id,
    status,
    ...(reason !== undefined && { reason }),
    ...suites.reduce<Counts>(sum, { pass: 0, fail: 0, skip: 0 }),
    duration: suites.reduce((total, { duration }) => total + duration, 0),
    suites,
  };
}

/** With several suites, each failure names its suite. */
export const allFailures = (outcomes: readonly SuiteOutcome[]): Failure[] =>
  outcomes.flatMap(({ failures, result }) =>
    outcomes.length > 1 ? failures.map((failure) => ({ ...failure, of: result.suite })) : [...failures],
  );

/** The counts, then each failure with its location and message, then the suites that did not pass. */
export function resultText(data: RunResult, reader: Reader): ActionText {
  const { status, run_id, failures, more_failures, suites, more_suites } = data;
  const troubled = suites.filter((one) => one.status !== "passed" || suites.length > 1);
  return {
    body: [
      countLine(data),
      ...failures.map((failure) => failureLines(failure, reader)),
      ...troubled.map(
        (suite) =>
          `${suite.suite}: ${countLine(suite)}${suite.output_ref ? `  output ${suite.output_ref}` : ""}`,
      ),
    ].join("\n"),
    notes: [
      status === "running" && "job.poll waits for the result, test.status shows it so far",
      more_failures > 0 && `${counted(more_failures, "more failure")} in test.status`,
      more_suites > 0 && `${counted(more_suites, "more suite")} not shown`,
    ],
    handles: { run: status === "running" || more_failures > 0 ? run_id : undefined },
  };
}

const countLine = ({ status, reason, pass, fail, skip, duration }: RunResult | SuiteResult): string =>
  `${status}: ${pass} passed, ${fail} failed, ${skip} skipped in ${Math.round(duration)} ms${reason ? ` (${reason})` : ""}`;

function failureLines(failure: Failure, reader: Reader): string {
  const { name, suite = [], message, uri, range, expected, actual, stack, of } = failure;
  const place = uri === undefined ? "" : `${spotOf({ uri, range }, reader)}: `;
  const title = `${place}FAIL ${[...suite, name].join(" > ")}${of === undefined ? "" : ` (${of})`}`;
  const shown = message.trimEnd();
  // The stack adds something only when it does not contain the message.
  const more = stack !== undefined && !stack.includes(shown) ? [stack.trimEnd()] : [];
  const compared = [
    ...(expected === undefined || shown.includes(expected) ? [] : [`expected: ${expected}`]),
    ...(actual === undefined || shown.includes(actual) ? [] : [`actual: ${actual}`]),
  ];
  return [
    title,
    ...[shown, ...compared, ...more]
      .join("\n")
      .split("\n")
      .map((line) => `  ${line}`),
  ].join("\n");
}
