import type { Processes } from "@octant/host";

/** Less than `proc.kill` gives: a person who cancels does not wait for a program that ignores SIGTERM. */
const GRACE_MS = 200;

/** Stops the process of a cancelled call: SIGTERM, soon followed by SIGKILL. Resolves when it has ended. */
export async function stopCancelled(
  processes: Pick<Processes, "kill">,
  owner: string,
  proc_id: string,
): Promise<void> {
  const stopped = processes.kill(owner, proc_id);
  // The first request reports a failure of either.
  const timer = setTimeout(() => void processes.kill(owner, proc_id, "SIGKILL").catch(() => {}), GRACE_MS);
  try {
    await stopped;
  } finally {
    clearTimeout(timer);
  }
}
