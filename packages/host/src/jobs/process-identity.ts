import { readFileSync, readlinkSync } from "node:fs";
import { attempt } from "@octant/core";

/**
 * Identifies a process, distinct from a later one with the same pid, and from those in other containers that share our
 * state.
 */
export const thisProcess = (): string => `${process.pid}:${startOf(process.pid) ?? ""}${namespace()}`;

export const pidOf = (identity: string): number => Number.parseInt(identity, 10);

/** False for a process in another container, which nobody can see from here. */
export function isAlive(identity: string): boolean {
  if (!isHere(identity)) return false;
  const [pid = "", start = ""] = identity.replace(NAMESPACE, "").split(":");
  const now = startOf(Number(pid));
  if (now !== undefined) return now === start;
  return start === "" && attempt(() => process.kill(Number(pid), 0)) === true;
}

/** Whether it can no longer do anything: what it left may be removed. False for a process in another container. */
export const isDead = (identity: string): boolean => isHere(identity) && !isAlive(identity);

/** Matches an identity at the start of a name. */
export const IDENTITY = "\\d+:\\d*(?:@\\d+)?";
const NAMESPACE = /@\d+/;

const isHere = (identity: string): boolean => {
  const [theirs = namespace()] = NAMESPACE.exec(identity) ?? [];
  return theirs === namespace();
};

/** The namespace of our process ids; empty without /proc. */
const namespace = (): string =>
  attempt(() => readlinkSync("/proc/self/ns/pid"))?.replace(/^pid:\[(\d+)\]$/, "@$1") ?? "";

const STARTTIME_FIELD = 19;

/** The kernel's start time of a process; undefined when it does not exist, or without /proc. */
function startOf(pid: number): string | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // The name in brackets may hold anything; the fields after it are numbers. A zombie is dead.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields?.[0] === "Z" ? undefined : fields?.[STARTTIME_FIELD];
}
