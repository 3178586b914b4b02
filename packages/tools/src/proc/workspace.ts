import type { Confinement, Processes } from "@octant/host";

/** What the proc tool stands on. */
export interface ProcWorkspace {
  readonly confinement: Confinement;
  readonly processes: Processes;
}
