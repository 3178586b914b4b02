import { readFileSync } from "node:fs";

/** Of one process. Node raises its own limit to the hard one, which is a million in many containers, and children inherit it. */
const MAX_OPEN_FILES = 65_536;

/**
 * Limits that the launcher's shell sets before the command; ordinary work does not reach them. The number of processes
 * is not limited here: that limit counts all processes of the user on the machine.
 */
export function toLimitCommands(current = readLimits()): string {
  const [, hard = "0"] = /^Max open files +\S+ +(\S+)/m.exec(current) ?? [];
  // Root could raise it, which is not meant.
  const isHigher = hard === "unlimited" || Number(hard) > MAX_OPEN_FILES;
  return isHigher ? `ulimit -c 0; ulimit -n ${MAX_OPEN_FILES}` : "ulimit -c 0";
}

function readLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return "";
  }
}
