import type { Breakage, Findings, Problem, TestCase } from "./case.ts";
import type { KnownTest } from "./runner.ts";

/** Stored failures per suite; the rest are only counted. */
const MAX_FAILURES = 500;

export type FailedTest = Breakage & Pick<TestCase, "suite">;

/** Counts a parser's findings and stores the failures. */
export class Tally implements Findings {
  pass = 0;
  fail = 0;
  skip = 0;
  breakages = 0;
  readonly failures: (Breakage | FailedTest)[] = [];
  readonly failed: KnownTest[] = [];
  readonly #onTest: (test: TestCase) => void;

  constructor(onTest: (test: TestCase) => void) {
    this.#onTest = onTest;
  }

  test(test: TestCase): void {
    this[test.outcome] += 1;
    if (test.outcome === "fail") {
      const { name, suite, file, id, problem = { message: "the test failed without a message" } } = test;
      this.#store({ name, suite, file, problem });
      if (this.failed.length < MAX_FAILURES) this.failed.push({ name, suite, file, id });
    }
    this.#onTest(test);
  }

  broken(breakage: Breakage): void {
    this.breakages += 1;
    this.#store(breakage);
  }

  #store(failure: Breakage | FailedTest): void {
    if (this.failures.length < MAX_FAILURES)
      this.failures.push({ ...failure, problem: bounded(failure.problem) });
  }
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
