import { setTimeout as delay } from "node:timers/promises";
import { attempt } from "@octant/core";
import { carriesMark, hasProcessTable, listProcesses, type ProcessRow } from "./process-table.ts";
import { SERVER_MARK } from "./protocol.ts";

/** Identifies the processes that belong together. */
export interface Tree {
  /** Leaders of a session or group that have not been reaped yet. */
  readonly leaders: readonly number[];
  /** `NAME=value` in the environment: finds processes that left the session and lost their parents. */
  readonly mark: string;
}

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;
/** Processes that survive this long cannot be killed: they wait for a device or belong to another user. */
const PATIENCE_MS = 5_000;

/** Stops the tree with SIGTERM, and with SIGKILL after the grace period. Resolves with the survivors, normally none. */
export async function endTree(
  tree: Tree,
  { signal, graceMs }: { readonly signal: NodeJS.Signals; readonly graceMs: number },
): Promise<readonly number[]> {
  const started = performance.now();
  // A stopped process receives the signal only when it continues.
  let left = signalTree(tree, signal, ...(signal === "SIGKILL" ? [] : (["SIGCONT"] as const)));
  for (let pause = FIRST_PAUSE_MS; left.length > 0; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    await delay(pause);
    const passed = performance.now() - started;
    if (passed >= graceMs + PATIENCE_MS) break;
    const force = signal === "SIGKILL" || passed >= graceMs;
    left = force ? signalTree(tree, "SIGKILL") : findMembers(tree);
  }
  return left.map(({ pid }) => pid);
}

/** Sends the signals to every member and returns them. */
export function signalTree(tree: Tree, ...signals: readonly NodeJS.Signals[]): readonly Member[] {
  const members = findMembers(tree);
  for (const signal of signals) {
    // Signal whole groups, so that a process forked just now is not missed.
    const done = new Set(tree.leaders.filter((leader) => send(-leader, signal)));
    for (const { pid, group } of members) if (!done.has(group)) send(pid, signal);
  }
  return members;
}

type Member = Pick<ProcessRow, "pid" | "group">;

/** The leaders, the members of their groups and sessions, every marked process, and the children of all these. */
function findMembers({ leaders, mark }: Tree): readonly Member[] {
  if (!hasProcessTable())
    return leaders.filter((leader) => send(-leader, 0)).map((pid) => ({ pid, group: pid }));
  const heads = new Set(leaders);
  const rows = new Map(listProcesses().map((row) => [row.pid, row]));
  const known = new Map<number, boolean>();
  const belongs = (row: ProcessRow | undefined): boolean => {
    if (!row || row.pid === process.pid) return false;
    const answer =
      known.get(row.pid) ??
      (heads.has(row.group) ||
        heads.has(row.session) ||
        belongs(rows.get(row.ppid)) ||
        carriesMark(row.pid, mark));
    known.set(row.pid, answer);
    return answer;
  };
  return [...rows.values()].filter(belongs);
}

const send = (pid: number, signal: NodeJS.Signals | 0): boolean =>
  attempt(() => process.kill(pid, signal)) ?? false;

const POLL_MS = 5;

/** Records the marked process and its descendants; calling the result kills them all and resolves when they have exited. */
export function endFamily(pid: number, mark: string, exited: Promise<unknown>): () => Promise<void> {
  const members = familyOf(pid, listRows());
  return async () => {
    await endTree({ leaders: [pid], mark: `${SERVER_MARK}=${mark}` }, { signal: "SIGKILL", graceMs: 0 });
    await exited;
    // A sandbox's launcher ends before those inside, which take time to exit and no longer carry the mark.
    const started = performance.now();
    while (isAnyAlive(members) && performance.now() - started < PATIENCE_MS) await delay(POLL_MS);
  };
}

export const listRows = (): readonly ProcessRow[] => (hasProcessTable() ? listProcesses() : []);

/** A process and all below it. */
export function familyOf(pid: number, rows: readonly ProcessRow[]): readonly ProcessRow[] {
  const members = new Set([pid]);
  // Repeat until a scan finds no new member: pids need not grow from parent to child.
  for (let known = 0; known !== members.size; ) {
    known = members.size;
    for (const row of rows) if (members.has(row.ppid)) members.add(row.pid);
  }
  return rows.filter((row) => members.has(row.pid));
}

const isAnyAlive = (members: readonly ProcessRow[]): boolean =>
  listRows().some((row) =>
    members.some(({ pid, startTicks }) => row.pid === pid && row.startTicks === startTicks),
  );
