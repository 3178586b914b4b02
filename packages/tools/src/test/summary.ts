import { withinBudget } from "../within-budget.ts";
import type { SuiteOutcome } from "./outcome.ts";
import { bySeverity, type Failure, type RunResult, worstOf } from "./result.ts";
import type { Summary } from "./runs.ts";

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
  const status = worstOf(suites.map((suite) => suite.status));
  const reason = suites.find((suite) => suite.status === status)?.reason;
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
