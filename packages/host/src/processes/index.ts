export { limitsOf } from "./cgroup.ts";
export { passedEnvironment } from "./environment.ts";
export { MAX_STDIN_BYTES } from "./input-file.ts";
export type { Launcher } from "./launcher.ts";
export type { ProcessInfo } from "./process-info.ts";
export {
  createProcesses,
  MAX_RUNNING,
  type ProcessEvent,
  type Processes,
  type ProcessesOptions,
  type ProcessSpec,
} from "./processes.ts";
export type { ProcessStatus } from "./protocol.ts";
export type { Spool } from "./spool.ts";
