import { readFileSync } from "node:fs";
import { attempt } from "@octant/core";
import { familyOf, listRows } from "../../src/processes/process-tree.ts";
import { WAITING_COMMAND } from "../../src/sandbox/prepared.ts";

/** The launchers below a process whose sandboxes wait for a command. */
export function waitingSandboxes(pid = process.pid): number[] {
  const family = familyOf(pid, listRows());
  const parents = new Map(family.map((row) => [row.pid, row.ppid]));
  const shells = family.filter((row) => commandOf(row.pid) === `${WAITING_COMMAND.join("\0")}\0`);
  // From the shell up to the supervisor: the first process of the sandbox, the launcher and, where there is one, its shell.
  return shells.flatMap((shell) => {
    const above: number[] = [];
    for (let at = parents.get(shell.pid); at !== undefined && at !== pid; at = parents.get(at))
      above.push(at);
    return above.slice(0, -1);
  });
}

const commandOf = (pid: number): string => attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "";
