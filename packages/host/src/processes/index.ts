export { limitsOf } from "./cgroup.ts";
export { passedEnvironment } from "./environment.ts";
export type { Launcher } from "./launcher.ts";

export type { ProcessInfo } from "./process-info.ts";
export {
  createProcesses,
  MAX_RUNNING,
  MAX_STDIN_BYTES,
  type ProcessEvent,
  type Processes,
  type ProcessesOptions,
  type ProcessSpec,
} from "./processes.ts";
export type { ProcessStatus } from "./protocol.ts";
export type { Spool } from "./spool.ts";
