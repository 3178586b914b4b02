import { readFileSync } from "node:fs";

/** Of one process. Node raises its own limit to the hard one, which is a million in many containers, and children inherit it. */
const MAX_OPEN_FILES = 65_536;

/**
 * What a launcher's shell runs before the command: limits that ordinary work does not meet, and that cost no process of
 * their own. Not the number of processes: that one counts all of a user's, on the whole machine.
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
