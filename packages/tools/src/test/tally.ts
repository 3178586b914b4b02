import type { Breakage, Findings, Problem, TestCase } from "./case.ts";
import type { KnownTest } from "./runner.ts";

/** Stored failures per suite; the rest are only counted. */
const MAX_FAILURES = 500;

export interface Tally extends Findings {
  readonly pass: number;
  readonly fail: number;
  readonly skip: number;
  readonly breakages: number;
  readonly failures: readonly (Breakage | FailedTest)[];
  readonly failed: readonly KnownTest[];
}

export type FailedTest = Breakage & Pick<TestCase, "suite">;

/** Counts a parser's findings and stores the failures. */
export function createTally(onTest: (test: TestCase) => void): Tally {
  const counts = { pass: 0, fail: 0, skip: 0, breakages: 0 };
  const failures: (Breakage | FailedTest)[] = [];
  const failed: KnownTest[] = [];
  const store = (failure: Breakage | FailedTest) => {
    if (failures.length < MAX_FAILURES) failures.push({ ...failure, problem: bounded(failure.problem) });
  };
  return {
    get pass() {
      return counts.pass;
    },
    get fail() {
      return counts.fail;
    },
    get skip() {
      return counts.skip;
    },
    get breakages() {
      return counts.breakages;
    },
    failures,
    failed,
    test(test) {
      counts[test.outcome] += 1;
      if (test.outcome === "fail") {
        const { name, suite, file, id, problem = { message: "the test failed and said nothing" } } = test;
        store({ name, suite, file, problem });
        if (failed.length < MAX_FAILURES) failed.push({ name, suite, file, id });
      }
      onTest(test);
    },
    broken(breakage) {
      counts.breakages += 1;
      store(breakage);
    },
  };
}

/** Upper bound of the text shown for a failure. */
const MAX_TEXT_CHARS = 16_384;

const bounded = ({ message, stack, expected, actual, at }: Problem): Problem => ({
  message: message.slice(0, MAX_TEXT_CHARS),
  stack: stack?.slice(0, MAX_TEXT_CHARS),
  expected: expected?.slice(0, MAX_TEXT_CHARS),
  actual: actual?.slice(0, MAX_TEXT_CHARS),
  at,
});
