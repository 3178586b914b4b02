import { setTimeout as delay } from "node:timers/promises";
import { hasProcessTable, listProcesses, type ProcessRow } from "./process-table.ts";
import { endTree } from "./process-tree.ts";
import { SERVER_MARK } from "./protocol.ts";

const PATIENCE_MS = 5_000;
const LOOK_MS = 5;

/** Records the marked process and its descendants; calling the result kills them all and resolves when they have exited. */
export function endFamily(pid: number, mark: string, exited: Promise<unknown>): () => Promise<void> {
  const members = familyOf(pid, listRows());
  return async () => {
    await endTree({ leaders: [pid], mark: `${SERVER_MARK}=${mark}` }, { signal: "SIGKILL", graceMs: 0 });
    await exited;
    // A sandbox's launcher ends before those inside, which take their time to go and carry no mark any more.
    const started = performance.now();
    while (isAnyAlive(members) && performance.now() - started < PATIENCE_MS) await delay(LOOK_MS);
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
