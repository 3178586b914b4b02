import { type ActionText, ANSWER_BYTES, MAX_ANSWER_BYTES, ProcId, Ref } from "@octant/core";
import type { Checkpoints, Confinement, Processes, ProcessInfo, Sandbox } from "@octant/host";
import { z } from "zod";
import { excerptOf } from "./output-text.ts";

export const ProcIdInput = ProcId.describe("proc_… from proc.exec");

export const EXAMPLE_PROC = "proc_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";

/** The parameters of every action that shows output. */
export const outputInput = {
  max_bytes: z
    .int()
    .min(1)
    .max(MAX_ANSWER_BYTES)
    .default(ANSWER_BYTES)
    .describe("Output bytes in the answer"),
  raw: z.boolean().default(false).describe("Keep terminal escapes and overwritten lines"),
};

export const Outcome = {
  proc_id: ProcId,
  status: z
    .enum(["running", "exited", "killed", "timed_out"])
    .describe("killed and timed_out say why it ended"),
  exit_code: z.int().nullable(),
  signal: z
    .string()
    .nullable()
    .describe("The signal that ended it; in a sandbox also derived from exit code 128 + n"),
  limit: z.enum(["memory"]).optional().describe("It or a child was killed for exceeding a resource limit"),
  duration: z.number().describe("Milliseconds"),
};

export const toOutcome = ({ proc_id, status, exit_code, signal, limit, duration }: ProcessInfo) => ({
  proc_id,
  status,
  exit_code,
  signal,
  ...(limit !== null && { limit }),
  duration,
});

export const Output = {
  stdout: z.string(),
  stderr: z.string(),
  stdout_bytes: z.int().describe("Total bytes printed so far"),
  stderr_bytes: z.int(),
  stdout_ref: Ref,
  stderr_ref: Ref,
  truncated: z.boolean().describe("stdout or stderr has only head and tail; the refs have all of it"),
};

export interface OutputOptions {
  readonly max_bytes: number;
  readonly raw: boolean;
  /** Only output after these offsets. */
  readonly since?: Pick<ProcessInfo, "stdout_bytes" | "stderr_bytes">;
}

/** The output of a process within the budget: a stream may use what the other leaves, and at least half. */
export function toOutput(processes: Processes, info: ProcessInfo, { max_bytes, raw, since }: OutputOptions) {
  const { owner, proc_id, stdout_bytes, stderr_bytes } = info;
  const { stdout_bytes: outFrom = 0, stderr_bytes: errFrom = 0 } = since ?? {};
  const excerpt = (stream: "stdout" | "stderr", from: number, to: number, others: number) => {
    const budget = Math.max(max_bytes >> 1, max_bytes - others);
    const spool = processes.output(owner, proc_id, stream);
    return excerptOf(spool, { from, to, budget, raw, ref: `${stream}:${proc_id}` });
  };
  const out = excerpt("stdout", outFrom, stdout_bytes, stderr_bytes - errFrom);
  const err = excerpt("stderr", errFrom, stderr_bytes, stdout_bytes - outFrom);
  return {
    stdout: out.text,
    stderr: err.text,
    stdout_bytes,
    stderr_bytes,
    stdout_ref: `stdout:${proc_id}`,
    stderr_ref: `stderr:${proc_id}`,
    truncated: out.truncated || err.truncated,
  };
}

type OutcomeData = z.output<z.ZodObject<typeof Outcome>>;
type RunData = OutcomeData &
  z.output<z.ZodObject<typeof Output>> & {
    readonly ready?: boolean | undefined;
    readonly note?: string | undefined;
    readonly undo?: string | undefined;
  };

/** The output, then one line with how the command ended, and its handles while there is more to ask for. */
export function runText(data: RunData): ActionText {
  const { stdout, stderr, proc_id, status, truncated, stdout_ref, stderr_ref, ready, note, undo } = data;
  const printed = [stdout, stderr && (stdout ? `[stderr]\n${stderr}` : stderr)].filter((text) => text !== "");
  return {
    body: printed.map((text) => (text.endsWith("\n") ? text : `${text}\n`)).join(""),
    notes: [
      ending(data),
      printed.length === 0 && "no output",
      stdout === "" && stderr !== "" && "all of it on stderr",
      ready !== undefined && (ready ? "ready" : "not ready yet"),
      note,
    ],
    handles: {
      undo,
      proc: status === "running" && !note?.includes(proc_id) ? proc_id : undefined,
      ...(truncated && { stdout: stdout_ref, stderr: stderr === "" ? undefined : stderr_ref }),
    },
  };
}

/** How a command ended, or how long it has run. */
export function ending({ status, exit_code, signal, limit, duration }: OutcomeData): string {
  const time = duration < 10_000 ? `${Math.round(duration)} ms` : `${Math.round(duration / 1_000)} s`;
  if (status === "running") return `running for ${time}`;
  const how = signal ? `${status} by ${signal}` : status === "exited" ? `exit ${exit_code}` : status;
  return `${how} after ${time}${limit ? `; killed for using too much ${limit}` : ""}`;
}

/** The dependencies of the proc tool. */
export interface ProcWorkspace {
  readonly confinement: Confinement;
  readonly processes: Processes;
  /** Shown in the answers; `processes` applies it to commands in any case. */
  readonly sandbox?: Pick<Sandbox, "status" | "unconfined" | "limits">;
  /** With it, a command's changes can be undone. */
  readonly checkpoints?: Pick<Checkpoints, "begin">;
}
