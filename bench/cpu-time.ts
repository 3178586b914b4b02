import { readFileSync } from "node:fs";

const MS_PER_TICK = 10;

/** Milliseconds in user and system mode; Linux only. */
export function cpuOf(pid: number): number {
  const [, facts = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const fields = facts.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}
