import type { ActionText } from "@octant/core";
import type { z } from "zod";
import type { Outcome, Output } from "./answer.ts";

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

export const outcomeText = (data: OutcomeData): ActionText => ({
  body: `${data.proc_id}: ${ending(data)}`,
});

interface LogsData extends OutcomeData {
  readonly text: string;
  readonly next: number;
  readonly total: number;
  readonly missing: number;
}

export const logsText = (data: LogsData): ActionText => ({
  body: data.text,
  notes: [
    ending(data),
    data.text === "" && "nothing new",
    data.missing > 0 && `${data.missing} earlier bytes are no longer stored`,
  ],
  handles: { since: data.status === "running" || data.next < data.total ? data.next : undefined },
});

function ending({ status, exit_code, signal, limit, duration }: OutcomeData): string {
  const time = duration < 10_000 ? `${Math.round(duration)} ms` : `${Math.round(duration / 1_000)} s`;
  if (status === "running") return `running for ${time}`;
  const how = signal ? `${status} by ${signal}` : status === "exited" ? `exit ${exit_code}` : status;
  return `${how} after ${time}${limit ? `; killed for using too much ${limit}` : ""}`;
}

interface PsData {
  readonly processes: readonly (OutcomeData & { readonly command: string; readonly pid: number })[];
  readonly machine?:
    | readonly {
        readonly pid: number;
        readonly ppid: number;
        readonly name: string;
        readonly memory: number;
      }[]
    | undefined;
}

export function psText({ processes, machine }: PsData): ActionText {
  const own = processes.map((one) => `${one.proc_id}  pid ${one.pid}  ${ending(one)}  ${one.command}`);
  const all = machine?.map(
    ({ pid, ppid, name, memory }) => `${pid}  parent ${ppid}  ${Math.round(memory / 2 ** 20)} MiB  ${name}`,
  );
  return { body: [...own, ...(all ?? [])].join("\n") || "no processes" };
}
