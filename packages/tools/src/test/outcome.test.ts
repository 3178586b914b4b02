import { expect, test } from "vitest";
import { type Evidence, toVerdict } from "./outcome.ts";

const SEEN: Evidence = {
  process: "exited",
  exitCode: 0,
  signal: null,
  pass: 3,
  fail: 0,
  broken: 0,
  complete: true,
  saysNone: false,
  exitCodeCounts: false,
};

test.each<[string, Partial<Evidence>, string]>([
  ["all passed", {}, "passed"],
  ["one failed", { fail: 1, exitCode: 1 }, "failed"],
  ["one failed and the runner hid it", { fail: 1 }, "failed"],
  ["all passed, but the coverage was too low", { exitCode: 1 }, "failed"],
  ["a file did not load", { broken: 1, exitCode: 1 }, "crashed"],
  ["the results were cut off", { complete: false }, "crashed"],
  ["it was killed", { signal: "SIGKILL", exitCode: null, process: "killed" }, "crashed"],
  ["it took too long", { process: "timed_out", exitCode: null, signal: "SIGTERM" }, "timed_out"],
  ["there was nothing to run", { pass: 0 }, "no_tests"],
  [
    "there was nothing to run, which the runner calls an error",
    { pass: 0, exitCode: 5, saysNone: true },
    "no_tests",
  ],
  ["there was nothing but an error", { pass: 0, exitCode: 1, complete: false }, "crashed"],
  ["there was nothing but an exit code", { pass: 0, exitCodeCounts: true }, "passed"],
  ["there was nothing but a bad exit code", { pass: 0, exitCode: 2, exitCodeCounts: true }, "failed"],
])("%s", (_, more, status) => {
  expect(toVerdict({ ...SEEN, ...more }).status).toBe(status);
});
