import { expect, test } from "vitest";
import { type JobRow, outcomeOf, progressOf, type Row, titleOf, unique } from "./job-rows.ts";

const job = (more: Partial<JobRow>): JobRow => ({
  kind: "job",
  job_id: "job_1",
  tool: "test",
  action: "run",
  state: "complete",
  progress: null,
  created_at: "2026-11-18T10:00:00.000Z",
  updated_at: "2026-11-18T10:00:01.000Z",
  process: "p1",
  others: [],
  ...more,
});
const command: Row = {
  kind: "command",
  proc_id: "proc_1",
  status: "exited",
  exit_code: 3,
  signal: null,
  duration: 59,
  command: "npm run build",
  pid: 1,
  started_at: Date.parse("2026-11-18T10:00:02.000Z"),
  pty: false,
  stdout_bytes: 0,
  stderr_bytes: 0,
  process: "p1",
  others: [],
};

test("a command that has started is one row, with its text and its exit code", () => {
  const around = job({ tool: "proc", action: "exec", subject: "npm run build" });
  const rows = unique([around, command, { ...command, process: "p2" }, job({ job_id: "job_2" })]);
  expect(rows.map(titleOf)).toEqual(["npm run build", "test.run"]);
  expect(rows[0]).toMatchObject({ process: "p1", others: ["p2"] });
  expect(outcomeOf(command)).toEqual({ text: "exited with 3", tone: "bad" });
  const ended: Row = { ...command, exit_code: null, signal: "SIGTERM" };
  expect(outcomeOf(ended)).toEqual({ text: "ended by SIGTERM", tone: "bad" });
});

test("a command belongs to the process that runs it, whichever lists it first", () => {
  const listed = (process: string): Row => ({ ...command, status: "running", server_pid: 41, process });
  const [row] = unique(["4-a1", "41-b2", "412-c3"].map(listed));
  expect(row).toMatchObject({ process: "41-b2", others: ["4-a1", "412-c3"] });
});

test("a command that never started stays as a job, with what it was about", () => {
  const failed = job({ tool: "proc", action: "exec", subject: "npm run build", state: "failed" });
  expect(unique([failed]).map(titleOf)).toEqual(["proc.exec npm run build"]);
  expect(outcomeOf(failed)).toEqual({ text: "failed", tone: "bad" });
});

test.each([
  ["3 passed, 1 failed", "failed", "bad"],
  ["3 passed, 0 failed", "complete", "good"],
  ["passed: 3 passed, 0 failed", "complete", "good"],
  // Its runner ended with another exit code.
  ["failed: 3 passed, 0 failed", "failed", "bad"],
  [undefined, "complete", "good"],
])("a test run with %s is %s", (message, text, tone) => {
  const progress = message === undefined ? null : { progress: 4, message };
  expect(outcomeOf(job({ progress }))).toEqual({ text, tone });
});

test("work that has ended does not show its last step as if it went on", () => {
  const progress = { progress: 1, message: "typescript: starting" };
  expect(progressOf(job({ tool: "code", action: "diagnostics", state: "running", progress }))).toBe(
    "typescript: starting",
  );
  expect(progressOf(job({ tool: "code", action: "diagnostics", progress }))).toBeUndefined();
  expect(progressOf(job({ progress: { progress: 1, message: "failed: 1 passed" } }))).toBe("1 passed");
});
