import type { ProcessInfo } from "@octant/host";
import { toFailure } from "./failure.ts";
import type { Failure, RunStatus, SuiteResult } from "./result.ts";
import { type Ending, type KnownTest, notInstalled, type Runner, type TestOptions } from "./runner.ts";
import type { Suite } from "./suites.ts";
import type { Tally } from "./tally.ts";

export interface SuiteOutcome {
  readonly result: SuiteResult;
  readonly failures: readonly Failure[];
  readonly failed: readonly KnownTest[];
}

/** All observations of a suite's run. */
export interface Observed {
  readonly suite: Suite;
  readonly runner: Runner;
  readonly process: ProcessInfo;
  readonly tally: Tally;
  readonly complete: boolean | undefined;
  /** How many tests ran that were not in the selected file. */
  readonly elsewhere: number;
  /** The runner's message about its selection. */
  readonly note: string | undefined;
}

export function toOutcome(options: TestOptions, observed: Observed): SuiteOutcome {
  const { suite, runner, process, tally, complete, elsewhere, note } = observed;
  const { proc_id, exit_code: exitCode, duration } = process;
  const { pass, fail, skip, breakages } = tally;
  const ending = { exitCode, output: tailOf(options, process) };
  const hasResults = pass + fail + skip + breakages > 0;
  if (!hasResults) throwWhenMissing(runner, suite, ending);
  const verdict = toVerdict({
    process,
    tally,
    complete,
    saysNone: runner.hasNoTests?.(ending) ?? false,
    exitCodeCounts: countsExitCode(runner, complete),
  });
  const hasGoneWrong = verdict.status === "crashed" || verdict.status === "failed";
  return {
    result: {
      ...describeSuite(suite),
      ...verdict,
      ...toReason(verdict.reason, elsewhere > 0 ? notNarrowed(elsewhere, suite) : note),
      pass,
      fail,
      skip,
      duration,
      output_ref: `stdout:${proc_id}`,
      stderr_ref: `stderr:${proc_id}`,
    },
    failures: failuresOf(options, suite, tally, hasGoneWrong ? ending.output : ""),
    failed: tally.failed,
  };
}

/** Whether a run that reported no test is judged by its exit code. */
function countsExitCode({ reads }: Runner, complete: boolean | undefined): boolean {
  if (reads.from === "events") return reads.orExitCode === true && complete === false;
  return reads.from === "anywhere" && complete === undefined;
}

function toReason(...parts: readonly (string | undefined)[]): { reason?: string } {
  const known = parts.filter((part) => part !== undefined);
  return known.length === 0 ? {} : { reason: known.join("; ") };
}

const notNarrowed = (elsewhere: number, { command }: Suite): string =>
  `'${command.join(" ")}' also ran ${elsewhere} tests of other files, because it names its own; proc.exec runs the runner by itself`;

/** A suite that could not be started; the others of the run continue. */
export const notRun = (suite: Suite, reason: string): SuiteOutcome => ({
  result: { ...describeSuite(suite), status: "crashed", reason, pass: 0, fail: 0, skip: 0, duration: 0 },
  failures: [{ name: suite.id, message: reason }],
  failed: [],
});

const describeSuite = ({ id, package: name, runner, command }: Suite) => ({
  suite: id,
  package: name,
  runner,
  command: [...command],
});

const TAIL_BYTES = 8_192;

/** The tail of the process's output, stderr after stdout. */
function tailOf({ workspace: { processes } }: TestOptions, { owner, proc_id }: ProcessInfo): string {
  const [stdout, stderr] = (["stdout", "stderr"] as const).map((stream) => {
    const spool = processes.output(owner, proc_id, stream);
    return spool.read(Math.max(0, spool.total() - TAIL_BYTES), TAIL_BYTES).bytes.toString();
  });
  return `${stdout}\n${stderr}`.trim();
}

const COMMAND_NOT_FOUND = 127;

function throwWhenMissing(runner: Runner, suite: Suite, ending: Ending): void {
  const refusal = runner.refusal?.(ending);
  if (refusal) throw refusal;
  if (ending.exitCode !== COMMAND_NOT_FOUND) return;
  const command = suite.command.join(" ");
  throw notInstalled(
    runner.name,
    `'${command}' did not find its program; install the project's dependencies first`,
  );
}

const MAX_LAST_LINES = 40;

/** If no test failed, the tail of the output is the best explanation. */
function failuresOf(
  { workspace: { confinement } }: TestOptions,
  suite: Suite,
  { failures }: Tally,
  output: string,
): Failure[] {
  if (failures.length > 0 || output === "") {
    return failures.map((failed) => {
      // Why something does not compile may only have been printed.
      const isUnexplained = !("suite" in failed) && failed.problem.stack === undefined;
      const problem = isUnexplained ? { ...failed.problem, stack: output } : failed.problem;
      return toFailure({ ...failed, problem }, suite.folder, confinement);
    });
  }
  const problem = { message: output.split("\n").slice(-MAX_LAST_LINES).join("\n"), stack: output };
  return [toFailure({ name: suite.id, problem }, suite.folder, confinement)];
}

/** All evidence at the end of a suite's run. */
export interface Evidence {
  readonly process: Pick<ProcessInfo, "status" | "exit_code" | "signal">;
  readonly tally: Pick<Tally, "pass" | "fail" | "breakages">;
  /** Whether the runner's report is complete; undefined when unknown. */
  readonly complete: boolean | undefined;
  /** Whether the runner says that there are no tests. */
  readonly saysNone: boolean;
  /** Whether the exit code may be the only evidence. */
  readonly exitCodeCounts: boolean;
}

/** The verdict of a run. It passes only if tests ran, all passed and nothing else failed. */
export function toVerdict(seen: Evidence): { status: RunStatus; reason?: string } {
  const { exit_code, signal, status } = seen.process;
  const { pass, fail, breakages } = seen.tally;
  if (status === "timed_out") return { status, reason: "it took longer than its timeout" };
  if (signal !== null) return { status: "crashed", reason: `the runner was ended by ${signal}` };
  if (breakages > 0) return { status: "crashed", reason: "something could not be loaded; see failures" };
  if (pass + fail === 0) return withoutTests(seen);
  if (seen.complete === false)
    return { status: "crashed", reason: `the runner ended with exit code ${exit_code} before it finished` };
  if (fail > 0) return { status: "failed" };
  if (exit_code === 0) return { status: "passed" };
  return { status: "failed", reason: `all tests passed, but the runner ended with exit code ${exit_code}` };
}

const NO_TESTS = "no test ran, or none was reported; output_ref has the runner's output";

function withoutTests({ process: { exit_code }, saysNone, exitCodeCounts }: Evidence): {
  status: RunStatus;
  reason?: string;
} {
  if (exitCodeCounts) {
    const reason = "it reported no tests in a form that can be read; only its exit code is known";
    return { status: exit_code === 0 ? "passed" : "failed", reason: `${reason}: ${exit_code}` };
  }
  if (exit_code === 0 || saysNone) return { status: "no_tests", reason: NO_TESTS };
  return { status: "crashed", reason: `the runner ended with exit code ${exit_code} and no results` };
}
