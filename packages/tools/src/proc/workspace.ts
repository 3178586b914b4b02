import type { Checkpoints, Confinement, Processes, Sandbox } from "@octant/host";

/** The dependencies of the proc tool. */
export interface ProcWorkspace {
  readonly confinement: Confinement;
  readonly processes: Processes;
  /** Shown in the answers; `processes` applies it to commands in any case. */
  readonly sandbox?: Pick<Sandbox, "status">;
  /** With it, a command's changes can be undone. */
  readonly checkpoints?: Pick<Checkpoints, "begin">;
}
