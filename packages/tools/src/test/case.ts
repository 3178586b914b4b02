/** A place as a runner tells it: the path absolute or from where it ran, line and column counted from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly col?: number;
}

/** What went wrong in a test, or outside all tests. */
export interface Problem {
  readonly message: string;
  readonly stack?: string;
  readonly expected?: string;
  readonly actual?: string;
  readonly at?: Place;
}

export type Outcome = "pass" | "fail" | "skip";

/** One test that ran, or was left out, as every parser tells it. */
export interface TestCase {
  readonly name: string;
  /** What it stands in, outermost first. */
  readonly suite: readonly string[];
  readonly outcome: Outcome;
  readonly durationMs?: number;
  readonly file?: string;
  /** What the runner itself calls the test, where that takes more than its names. */
  readonly id?: string;
  readonly problem?: Problem;
}

/** Something that kept tests from running: a file that does not load, a package that does not compile. */
export interface Breakage {
  readonly name: string;
  readonly file?: string;
  readonly problem: Problem;
}

/** Where a parser puts what it reads, as soon as it knows it. */
export interface Findings {
  test(test: TestCase): void;
  broken(breakage: Breakage): void;
}

/** Reads what a runner tells, line by line. It never throws: what it does not understand it passes over. */
export interface Parser {
  line(line: string): void;
  /** No more lines come. Answers whether the runner came to its end; undefined when its format does not tell. */
  end(): boolean | undefined;
}

export type CreateParser = (findings: Findings) => Parser;
