import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** A process as /proc tells it. Read here once more, so that Octant's own way of looking is not its own judge. */
export interface Seen {
  readonly pid: number;
  readonly ppid: number;
  readonly name: string;
  readonly isZombie: boolean;
  /** Tells it apart from a later process with the same number. */
  readonly startTicks: string;
}

const LOOK_EVERY_MS = 10;

/** Everything on this machine, the zombies too. */
export const listSeen = (): readonly Seen[] =>
  readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (look(Number(name)) ?? []) : []));

/** Those that were started with `NAME=value` in their environment, or by somebody who was. */
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

/** A zombie has ended: it only waits for its parent to ask. */
export function isRunning({ pid, startTicks }: Pick<Seen, "pid" | "startTicks">): boolean {
  const now = look(pid);
  return now !== undefined && !now.isZombie && now.startTicks === startTicks;
}

/** How long it took until the list was empty, and what was still on it when the time was up. */
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

/** From now on the peak is that of the time to come. */
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
  // The name in brackets may hold anything; the fields after it do not.
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

/** Processes come and go while one looks. */
function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
