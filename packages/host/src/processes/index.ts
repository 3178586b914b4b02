export { limitsOf, MAX_PROCESSES, type MachineLimits, type ProcessLimits } from "./cgroup.ts";
export { passedEnvironment } from "./environment.ts";
export type { Launcher } from "./launcher.ts";
export type { MachineProcess } from "./machine.ts";
export type { ProcessInfo } from "./process-info.ts";
export * from "./processes.ts";
export type { ProcessStatus, StreamName, TerminalSize } from "./protocol.ts";
export { SPOOL_CAPS, type Spool, type SpoolCaps, type SpoolPart } from "./spool.ts";
