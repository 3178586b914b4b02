import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { ForksPoolWorker, type PoolRunnerInitializer } from "vitest/node";

/** A worker larger than this runs no further file. */
const MAX_WORKER_MB = 500;

/**
 * Vitest's own workers, each replaced when it has grown: starting a program copies the page tables of the worker, which
 * takes 1 ms of CPU in a process of 50 MB and 20 ms in one of 1 GB.
 */
export const smallWorkers: PoolRunnerInitializer = {
  name: "small-workers",
  createPoolWorker: (options) => new SmallWorker(options),
};

class SmallWorker extends ForksPoolWorker {
  override readonly name = smallWorkers.name;

  canReuse(): boolean {
    // Vitest keeps its process to itself.
    const { pid } = Reflect.get(this, "fork") as ChildProcess;
    return process.platform !== "linux" || residentMb(pid) < MAX_WORKER_MB;
  }
}

/** Infinite for a process that has ended. */
function residentMb(pid: number | undefined): number {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes ?? Number.POSITIVE_INFINITY) / 1024;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
