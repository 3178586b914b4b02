import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** A process from /proc, read independently, so that Octant's own code is not its own judge. */
export interface Seen {
  readonly pid: number;
  readonly ppid: number;
  readonly name: string;
  readonly isZombie: boolean;
  /** Distinguishes it from a later process with the same pid. */
  readonly startTicks: string;
}

const LOOK_EVERY_MS = 10;

/** All processes on this machine, including zombies. */
export const listSeen = (): readonly Seen[] =>
  readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (look(Number(name)) ?? []) : []));

/** Those started with `NAME=value` in their environment, and their descendants. */
export const listMarked = (mark: string): readonly Seen[] =>
  listSeen().filter(
    ({ pid, isZombie }) => !isZombie && readOrNothing(`/proc/${pid}/environ`).split("\0").includes(mark),
  );

export function listDescendants(root: number): readonly Seen[] {
  const byParent = Map.groupBy(listSeen(), ({ ppid }) => ppid);
  const below = (pid: number): Seen[] =>
    (byParent.get(pid) ?? []).flatMap((child) => [child, ...below(child.pid)]);
  return below(root);
}

/** A zombie has ended: it only waits for its parent. */
export function isRunning({ pid, startTicks }: Pick<Seen, "pid" | "startTicks">): boolean {
  const now = look(pid);
  return now !== undefined && !now.isZombie && now.startTicks === startTicks;
}

/** The time until the list was empty, and its remaining entries when the time was up. */
export async function untilEmpty<T>(
  list: () => readonly T[],
  patienceMs: number,
): Promise<{ readonly ms: number; readonly left: readonly T[] }> {
  const start = performance.now();
  for (;;) {
    const left = list();
    const ms = performance.now() - start;
    if (left.length === 0 || ms > patienceMs) return { ms, left };
    await delay(LOOK_EVERY_MS);
  }
}

export const countDescriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Resets the peak. */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, "5");

export const residentMegabytes = (pid: number): number => megabytesOf(pid, "VmRSS");
export const peakMegabytes = (pid: number): number => megabytesOf(pid, "VmHWM");

function megabytesOf(pid: number, field: string): number {
  const [, kibibytes] =
    new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kibibytes) * 1024) / 1e6;
}

export function look(pid: number): Seen | undefined {
  const stat = readOrNothing(`/proc/${pid}/stat`);
  if (stat === "") return undefined;
  // The name in parentheses may contain anything; the fields after it do not.
  const nameEnd = stat.lastIndexOf(")");
  const [state = "", ppid, ...fields] = stat.slice(nameEnd + 2).split(" ");
  return {
    pid,
    ppid: Number(ppid),
    name: stat.slice(stat.indexOf("(") + 1, nameEnd),
    isZombie: state === "Z" || state === "X",
    startTicks: fields[START_AFTER_PPID] ?? "",
  };
}

const START_AFTER_PPID = 17;

/** Processes may end while being read. */
function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
