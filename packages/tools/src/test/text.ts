import { type ActionText, counted, type Reader } from "@octant/core";
import { spotOf } from "../place-lines.ts";
import type { Failure, RunResult } from "./result.ts";

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

type Counts = Pick<RunResult, "status" | "reason" | "pass" | "fail" | "skip" | "duration">;

const countLine = ({ status, reason, pass, fail, skip, duration }: Counts): string =>
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

interface ListData {
  readonly suites: readonly {
    readonly suite: string;
    readonly runner: string;
    readonly command: readonly string[];
    readonly files: readonly string[];
    readonly file_count: number;
  }[];
}

export const suitesText = ({ suites }: ListData, { path }: Reader): ActionText => ({
  body:
    suites
      .map(({ suite, runner, command, files, file_count }) => {
        const more = file_count > files.length ? [`  … ${file_count - files.length} more files`] : [];
        return [
          `${suite} (${runner}): ${command.join(" ")}`,
          ...files.map((file) => `  ${path(file)}`),
          ...more,
        ].join("\n");
      })
      .join("\n") || "no test suites",
});
