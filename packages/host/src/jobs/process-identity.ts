import { readFileSync } from "node:fs";
import { attempt } from "@octant/core";

/** Identifies a process, distinct from a later one with the same pid. */
export const thisProcess = (): string => `${process.pid}:${startOf(process.pid) ?? ""}`;

export function isAlive(identity: string): boolean {
  const [pid = "", start = ""] = identity.split(":");
  const now = startOf(Number(pid));
  if (now !== undefined) return now === start;
  return start === "" && attempt(() => process.kill(Number(pid), 0)) === true;
}

const STARTTIME_FIELD = 19;

/** The kernel's start time of a process; undefined when it does not exist, or without /proc. */
function startOf(pid: number): string | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // The name in brackets may hold anything; the fields after it are numbers. A zombie is dead.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields?.[0] === "Z" ? undefined : fields?.[STARTTIME_FIELD];
}
