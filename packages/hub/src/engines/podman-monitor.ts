import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { attempt } from "@octant/core";

const TRIES = 100;
const PAUSE_MS = 100;
const PARENT_FIELD = 1;

/**
 * Podman lets the monitor of every command wait for five minutes after its end, with two processes. Asked to end, the
 * monitor tidies up at once; on a busy machine it may not listen yet, so it is asked until it is gone. Monitors of
 * another user stay until their time is over.
 */
export async function endMonitor(exec_id: string): Promise<void> {
  let isFound = false;
  for (let tried = 0; tried < TRIES; tried += 1) {
    const monitors = monitorsOf(exec_id);
    if (isFound && monitors.length === 0) return;
    isFound ||= monitors.length > 0;
    // The first one waits for its child, which is the one that tidies up.
    const waiting = monitors.find((pid) => monitors.includes(parentOf(pid)));
    if (waiting !== undefined) attempt(() => process.kill(waiting, "SIGTERM"));
    await delay(PAUSE_MS);
  }
}

const monitorsOf = (exec_id: string): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) =>
      (attempt(() => readFileSync(`/proc/${pid}/cmdline`, "latin1")) ?? "").includes(`\0-u\0${exec_id}\0`),
    );

function parentOf(pid: number): number {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1")) ?? "";
  // The name of the program, which may have spaces, is in parentheses.
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[PARENT_FIELD]);
}
