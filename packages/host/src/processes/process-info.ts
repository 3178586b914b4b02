import { pidOf } from "../jobs/process-identity.ts";
import type { EndRecord, ProcessStatus, StartRecord, StreamName } from "./protocol.ts";
import { type ProcessRecord, type Released, spoolPath } from "./records.ts";
import { openSpool, type Spool } from "./spool.ts";

/** A process as its owner sees it. */
export interface ProcessInfo
  extends Omit<StartRecord, "caps" | "server">,
    Omit<EndRecord, "status" | "ended_at" | "printed">,
    Released {
  readonly status: ProcessStatus;
  /** The server that runs it, and that alone can send it input and stop it. */
  readonly server_pid: number;
  /** In milliseconds, so far or in total. */
  readonly duration: number;
  readonly stdout_bytes: number;
  readonly stderr_bytes: number;
}

export function toInfo(
  folder: string,
  { start, end, quarantined = [], stranded = [] }: ProcessRecord,
): ProcessInfo {
  const { caps: _caps, server, ...facts } = start;
  const { ended_at, printed, ...outcome } = end ?? { ...RUNNING, ended_at: Date.now() };
  // While its output is open, the count at exit is not final.
  const counted = outcome.output_open ? null : printed;
  return {
    ...facts,
    ...outcome,
    server_pid: pidOf(server),
    quarantined,
    stranded,
    duration: ended_at - start.started_at,
    stdout_bytes: counted?.stdout ?? spoolOf(folder, start, "stdout").total(),
    stderr_bytes: counted?.stderr ?? spoolOf(folder, start, "stderr").total(),
  };
}

const RUNNING = {
  status: "running",
  exit_code: null,
  signal: null,
  output_open: false,
  output_failure: null,
  limit: null,
  printed: null,
} as const;

export const spoolOf = (folder: string, { proc_id, caps }: StartRecord, stream: StreamName): Spool =>
  openSpool(spoolPath(folder, proc_id, stream), caps);
