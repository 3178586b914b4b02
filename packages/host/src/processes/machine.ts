import { readFileSync } from "node:fs";
import { ToolError } from "@octant/core";
import { hasProcessTable, listProcesses } from "./process-table.ts";

/** Any process of the machine. The command line is omitted because it may contain other users' secrets. */
export interface MachineProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly name: string;
  readonly started_at: number;
  /** Resident bytes. */
  readonly memory: number;
}

// The value on nearly every Linux; used for display only.
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4_096;

export function listMachine(): readonly MachineProcess[] {
  if (!hasProcessTable())
    throw new ToolError("UNSUPPORTED", "there is no /proc here; run `ps ax` with proc.exec", {
      what: "the machine's processes",
      how: "proc.exec with `ps ax`",
    });
  const bootSeconds = Number(/^btime (\d+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1] ?? 0);
  return listProcesses()
    .sort((a, b) => a.pid - b.pid)
    .map(({ pid, ppid, name, startTicks, residentPages }) => ({
      pid,
      ppid,
      name,
      started_at: (bootSeconds + startTicks / TICKS_PER_SECOND) * 1_000,
      memory: residentPages * PAGE_BYTES,
    }));
}
