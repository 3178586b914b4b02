import { setTimeout as delay } from "node:timers/promises";
import { carriesMark, hasProcessTable, listProcesses, type ProcessRow } from "./process-table.ts";

/** Which processes belong together. */
export interface Tree {
  /** Processes that lead their own session or group, and that nobody has waited for yet. */
  readonly leaders: readonly number[];
  /** `NAME=value` in the environment: finds those that left the session and whose parents are gone. */
  readonly mark: string;
}

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;
/** What is left then cannot be killed: it waits for a device, or belongs to another user. */
const PATIENCE_MS = 5_000;

/** Ends the tree, politely at first and by force after the grace. Resolves with what resisted: nothing, as a rule. */
export async function endTree(
  tree: Tree,
  { signal, graceMs }: { readonly signal: NodeJS.Signals; readonly graceMs: number },
): Promise<readonly number[]> {
  const started = performance.now();
  let left = signalTree(tree, signal);
  // A stopped process gets to know of the signal when it goes on.
  if (signal !== "SIGKILL") signalTree(tree, "SIGCONT");
  for (let pause = FIRST_PAUSE_MS; left.length > 0; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    await delay(pause);
    const passed = performance.now() - started;
    if (passed >= graceMs + PATIENCE_MS) break;
    const force = signal === "SIGKILL" || passed >= graceMs;
    left = force ? signalTree(tree, "SIGKILL") : findMembers(tree);
  }
  return left.map(({ pid }) => pid);
}

/** Sends the signal to every member, and tells who they were. */
export function signalTree(tree: Tree, signal: NodeJS.Signals): readonly Member[] {
  const members = findMembers(tree);
  // Whole groups at once, so that nobody in them is missed because it was just born.
  const done = new Set(tree.leaders.filter((leader) => send(-leader, signal)));
  for (const { pid, group } of members) if (!done.has(group)) send(pid, signal);
  return members;
}

type Member = Pick<ProcessRow, "pid" | "group">;

/** The leaders, whoever is in their groups and sessions, whoever carries the mark, and the children of all those. */
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

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
