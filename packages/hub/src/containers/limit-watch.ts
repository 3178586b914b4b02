import { constants } from "node:os";
import type { ContainerEngine, LimitHits } from "../engines/engine.ts";
import type { Project } from "../projects/project.ts";

/** A limit of the container that was enforced. */
export interface LimitHit {
  readonly limit: "memory_mb" | "pids" | "disk_mb";
  readonly message: string;
}

const NONE: LimitHits = { memory: 0, pids: 0 };

/** Says what is new in the counters since the last call; the first call says everything. */
export function createLimitWatch(engine: Pick<ContainerEngine, "hits">) {
  const last = new Map<string, LimitHits>();
  return {
    async check(id: string, { limits }: Project): Promise<readonly LimitHit[]> {
      const now = await engine.hits(id);
      const before = last.get(id) ?? NONE;
      last.set(id, now);
      // A container that was started again counts from zero.
      const isNew = (name: keyof LimitHits) => now[name] > (now[name] < before[name] ? 0 : before[name]);
      return [
        ...(isNew("memory") ? [{ limit: "memory_mb", message: outOfMemory(limits.memory_mb) } as const] : []),
        ...(isNew("pids") ? [{ limit: "pids", message: tooManyProcesses(limits.pids) } as const] : []),
      ];
    },
  };
}
const outOfMemory = (memory_mb: number | undefined): string =>
  memory_mb === undefined
    ? "out of memory: the machine killed a process of the container"
    : `out of memory: the container may use ${memory_mb} MB, and a process was killed`;
const tooManyProcesses = (pids: number | undefined): string =>
  `too many processes: the container may have ${pids ?? "no more"}, and one could not be started`;
/** The limit on a single file, which the kernel enforces with a signal. */
export function fileTooLarge(code: number | null, { limits: { disk_mb } }: Project): readonly LimitHit[] {
  if (disk_mb === undefined || code !== SIGNAL_EXIT + constants.signals.SIGXFSZ) return [];
  const message = `file too large: a file may have ${disk_mb} MB, and a command that wrote more was killed`;
  return [{ limit: "disk_mb", message }];
}
export const diskFull = (used: number, disk_mb: number): string =>
  `disk full: the project uses ${Math.ceil(used / MEGABYTE)} MB of its ${disk_mb} MB; delete files with container.exec, or raise disk_mb`;

const MEGABYTE = 1024 * 1024;
/** The exit code of a command that a signal killed is this and the signal's number. */
const SIGNAL_EXIT = 128;
