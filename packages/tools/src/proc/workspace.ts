import type { Checkpoints, Confinement, Processes, Sandbox } from "@octant/host";

/** What the proc tool stands on. */
export interface ProcWorkspace {
  readonly confinement: Confinement;
  readonly processes: Processes;
  /** Told in the answers; commands go through it in any case, by `processes`. */
  readonly sandbox?: Pick<Sandbox, "status">;
  /** With it, what a command changes can be taken back. */
  readonly checkpoints?: Pick<Checkpoints, "begin">;
}
