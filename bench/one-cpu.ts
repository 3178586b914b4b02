import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Pins the client and these servers to one CPU until it is disposed. A short call takes a third longer when client
 * and server are on different ones, and that may affect only one of the servers.
 */
export function onOneCpu(pids: readonly number[]): Disposable {
  const [, allowed = ""] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(statusOfSelf()) ?? [];
  const [first = ""] = /^\d+/.exec(allowed) ?? [];
  for (const pid of [process.pid, ...pids]) place(pid, first);
  return { [Symbol.dispose]: () => place(process.pid, allowed) };
}

/** Without `taskset`, or on another system, they are not pinned. */
function place(pid: number, cpus: string): void {
  if (cpus !== "") spawnSync("taskset", ["--all-tasks", "--cpu-list", "--pid", cpus, String(pid)]);
}

const statusOfSelf = (): string =>
  process.platform === "linux" ? readFileSync("/proc/self/status", "utf8") : "";
