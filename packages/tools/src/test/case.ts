/** A place as reported by a runner: absolute path or relative to its folder, 1-based line and column. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly col?: number;
}

/** A failure in a test, or outside all tests. */
export interface Problem {
  readonly message: string;
  readonly stack?: string;
  readonly expected?: string;
  readonly actual?: string;
  readonly at?: Place;
}

export type Outcome = "pass" | "fail" | "skip";

/** One test that ran or was skipped, as every parser reports it. */
export interface TestCase {
  readonly name: string;
  /** Enclosing suites, outermost first. */
  readonly suite: readonly string[];
  readonly outcome: Outcome;
  readonly durationMs?: number;
  readonly file?: string;
  /** The runner's own id of the test, if it is more than its names. */
  readonly id?: string;
  readonly problem?: Problem;
}

/** Something that kept tests from running: a file that does not load, a package that does not compile. */
export interface Breakage {
  readonly name: string;
  readonly file?: string;
  readonly problem: Problem;
}

/** Receives a parser's findings as soon as they are known. */
export interface Findings {
  test(test: TestCase): void;
  broken(breakage: Breakage): void;
}

/** Parses a runner's output line by line. It never throws; unknown lines are skipped. */
export interface Parser {
  line(line: string): void;
  /** End of input. Returns whether the runner completed; undefined when its format does not say. */
  end(): boolean | undefined;
}

export type CreateParser = (findings: Findings) => Parser;
