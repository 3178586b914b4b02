import type { CommandView, JobView } from "../../data/tool-data.ts";
import type { Tone } from "../../parts/badge.tsx";
import { toDuration } from "../../text/format.ts";
import { STATE_TONES } from "./state-tones.ts";

interface Found {
  readonly process: string;
  /** Other processes that list it too. */
  readonly others: readonly string[];
}

export type JobRow = { readonly kind: "job" } & JobView & Found;
export type CommandRow = { readonly kind: "command" } & CommandView & Found;
export type Row = JobRow | CommandRow;

export const idOf = (row: Row): string => (row.kind === "job" ? row.job_id : row.proc_id);

/** Processes of the same folder share their jobs. The one that runs a job knows its progress, and reaches a command. */
export function unique(rows: readonly Row[]): readonly Row[] {
  const merged = [...Map.groupBy(rows.filter(isShown), idOf).values()].map((same) => {
    const [first, ...others] = same.toSorted((a, b) => newsOf(b) - newsOf(a));
    return { ...(first as Row), others: others.map(({ process }) => process) };
  });
  return merged.sort((a, b) => startOf(b) - startOf(a));
}

/** A command that has started is listed as such, with its output; the job around it says less. */
const isShown = (row: Row): boolean =>
  row.kind === "command" ||
  row.tool !== "proc" ||
  row.action !== "exec" ||
  !["running", "complete"].includes(row.state);

export const startOf = (row: Row): number =>
  row.kind === "job" ? Date.parse(row.created_at) : row.started_at;

const newsOf = (row: Row): number =>
  row.kind === "job" ? Date.parse(row.updated_at) : Number(row.process.startsWith(`${row.server_pid}-`));

export const titleOf = (row: Row): string =>
  row.kind === "command" ? row.command : [`${row.tool}.${row.action}`, row.subject].filter(Boolean).join(" ");

export interface Outcome {
  readonly text: string;
  readonly tone: Tone;
}

export function outcomeOf(row: Row): Outcome {
  if (row.kind === "command") return commandOutcome(row);
  // A test run that ends with failures is complete as a job.
  const hasFailed = row.state === "complete" && FAILED.test(row.progress?.message ?? "");
  return hasFailed
    ? { text: "failed", tone: "bad" }
    : { text: row.state, tone: STATE_TONES[row.state] ?? "plain" };
}

/** Of a job that has ended only the counts of a test run: the last step of other work would look as if it went on. */
export const progressOf = (job: JobView): string | undefined =>
  job.state === "running" || job.tool === "test"
    ? // The state of a run that has ended is named before.
      job.progress?.message?.replace(/^\w+: (?=\d)/, "")
    : undefined;

const FAILED = /\b[1-9]\d* failed\b|^(?:failed|crashed|timed_out|no_tests|cancelled): /;

export function commandOutcome({ status, exit_code, signal }: CommandView): Outcome {
  if (status === "exited" && signal !== null) return { text: `ended by ${signal}`, tone: "bad" };
  const text = exit_code === null ? status.replace("_", " ") : `${status} with ${exit_code}`;
  const isBad = status === "exited" && exit_code !== 0;
  return { text, tone: isBad ? "bad" : (STATE_TONES[status] ?? "plain") };
}

/** The running time. A list shows the time of its last update. */
export const durationOf = (command: CommandView, now: number): string =>
  toDuration(command.status === "running" ? Math.max(0, now - command.started_at) : command.duration);
