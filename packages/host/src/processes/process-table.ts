import { existsSync, readdirSync, readFileSync } from "node:fs";
import { attempt, ToolError } from "@octant/core";

/** A process of this machine, as read from /proc. */
export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly group: number;
  readonly session: number;
  /** The first 15 bytes of the program's name; a command line may hold secrets of other people. */
  readonly name: string;
  /** In clock ticks since the machine was started. */
  readonly startTicks: number;
  readonly residentPages: number;
}

/** Without it (macOS) a process can be reached by its number and its group only. */
export const hasProcessTable = (): boolean => existsSync("/proc/self/stat");

/** All running processes, without zombies. */
export function listProcesses(): ProcessRow[] {
  return readdirSync("/proc").flatMap((name) => (/^\d/.test(name) ? (readProcess(Number(name)) ?? []) : []));
}

// Places in /proc/PID/stat, counted from the field after the name.
const STATE = 0;
const PPID = 1;
const GROUP = 2;
const SESSION = 3;
const START = 19;
const RESIDENT = 21;

function readProcess(pid: number): ProcessRow | undefined {
  const stat = readOrNothing(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in brackets may hold anything; the fields after it do not.
  const nameEnd = stat.lastIndexOf(")");
  const fields = stat.slice(nameEnd + 2).split(" ");
  if (fields[STATE] === "Z" || fields[STATE] === "X") return undefined;
  return {
    pid,
    ppid: Number(fields[PPID]),
    group: Number(fields[GROUP]),
    session: Number(fields[SESSION]),
    name: stat.slice(stat.indexOf("(") + 1, nameEnd),
    startTicks: Number(fields[START]),
    residentPages: Number(fields[RESIDENT]),
  };
}

/** Whether a signal has stopped it; always false without /proc. */
export const isStopped = (pid: number): boolean =>
  /^State:\tT/m.test(readOrNothing(`/proc/${pid}/status`) ?? "");

/** Whether the environment that a process was started with holds `NAME=value`. */
export function carriesMark(pid: number, mark: string): boolean {
  return `\0${readOrNothing(`/proc/${pid}/environ`) ?? ""}`.includes(`\0${mark}\0`);
}

/**
 * Processes come and go while one looks, and other users' are closed. As text: of a file in /proc, whose size is unknown,
 * Node reads bytes into 128 KB of new memory.
 */
const readOrNothing = (path: string): string | undefined => attempt(() => readFileSync(path, "utf8"));

/** Any process of the machine. The command line is omitted because it may contain other users' secrets. */
export interface MachineProcess extends Pick<ProcessRow, "pid" | "ppid" | "name"> {
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
