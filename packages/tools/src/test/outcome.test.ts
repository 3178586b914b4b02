import { expect, test } from "vitest";
import { type Evidence, toVerdict } from "./outcome.ts";

const PROCESS = { status: "exited", exit_code: 0, signal: null } as const;
const TALLY = { pass: 3, fail: 0, breakages: 0 };
const NONE = { pass: 0 };

interface Seen extends Partial<Pick<Evidence, "complete" | "saysNone" | "exitCodeCounts">> {
  readonly process?: Partial<Evidence["process"]>;
  readonly tally?: Partial<Evidence["tally"]>;
}

test.each<[string, Seen, string]>([
  ["all passed", {}, "passed"],
  ["one failed", { tally: { fail: 1 }, process: { exit_code: 1 } }, "failed"],
  ["one failed and the runner hid it", { tally: { fail: 1 } }, "failed"],
  ["all passed, but the coverage was too low", { process: { exit_code: 1 } }, "failed"],
  ["a file did not load", { tally: { breakages: 1 }, process: { exit_code: 1 } }, "crashed"],
  ["the results were cut off", { complete: false }, "crashed"],
  ["it was killed", { process: { signal: "SIGKILL", exit_code: null, status: "killed" } }, "crashed"],
  ["it took too long", { process: { status: "timed_out", exit_code: null, signal: "SIGTERM" } }, "timed_out"],
  ["there was nothing to run", { tally: NONE }, "no_tests"],
  [
    "there was nothing to run, which the runner calls an error",
    { tally: NONE, process: { exit_code: 5 }, saysNone: true },
    "no_tests",
  ],
  ["there was nothing but an error", { tally: NONE, process: { exit_code: 1 }, complete: false }, "crashed"],
  ["there was nothing but an exit code", { tally: NONE, exitCodeCounts: true }, "passed"],
  [
    "there was nothing but a bad exit code",
    { tally: NONE, process: { exit_code: 2 }, exitCodeCounts: true },
    "failed",
  ],
])("%s", (_, { process, tally, ...more }, status) => {
  const seen = { complete: true, saysNone: false, exitCodeCounts: false, ...more };
  const verdict = toVerdict({
    ...seen,
    process: { ...PROCESS, ...process },
    tally: { ...TALLY, ...tally },
  });
  expect(verdict.status).toBe(status);
});
