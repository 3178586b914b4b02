import type { ProcessStatus } from "@octant/host";
import type { RunStatus } from "./result.ts";

/** All evidence at the end of a suite's run. */
export interface Evidence {
  readonly process: ProcessStatus;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly pass: number;
  readonly fail: number;
  /** Number of problems that kept tests from running. */
  readonly broken: number;
  /** Whether the runner's report is complete; undefined when unknown. */
  readonly complete: boolean | undefined;
  /** Whether the runner says that there are no tests. */
  readonly saysNone: boolean;
  /** Whether the exit code may be the only evidence. */
  readonly exitCodeCounts: boolean;
}

/** The verdict of a run. It passes only if tests ran, all passed and nothing else failed. */
export function toVerdict(seen: Evidence): { status: RunStatus; reason?: string } {
  const { exitCode, pass, fail } = seen;
  if (seen.process === "timed_out") return { status: "timed_out", reason: "it took longer than its timeout" };
  if (seen.signal !== null) return { status: "crashed", reason: `the runner was ended by ${seen.signal}` };
  if (seen.broken > 0) return { status: "crashed", reason: "something could not be loaded; see failures" };
  if (pass + fail === 0) return withoutTests(seen);
  if (seen.complete === false)
    return { status: "crashed", reason: `the runner ended with exit code ${exitCode} before it was done` };
  if (fail > 0) return { status: "failed" };
  if (exitCode === 0) return { status: "passed" };
  return { status: "failed", reason: `all tests passed, but the runner ended with exit code ${exitCode}` };
}

const NO_TESTS = "no test ran, or none was reported; output_ref has the runner's output";

function withoutTests({ exitCode, saysNone, exitCodeCounts }: Evidence): {
  status: RunStatus;
  reason?: string;
} {
  if (exitCodeCounts) {
    const reason = "it printed no TAP and wrote no JUnit report; only its exit code is known";
    return { status: exitCode === 0 ? "passed" : "failed", reason: `${reason}: ${exitCode}` };
  }
  if (exitCode === 0 || saysNone) return { status: "no_tests", reason: NO_TESTS };
  return { status: "crashed", reason: `the runner ended with exit code ${exitCode} and no results` };
}
