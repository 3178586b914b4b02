import type { Caller } from "@octant/core";
import type { Network, Workspace } from "@octant/host";

/** What the net tool stands on. */
export interface NetOptions {
  readonly workspace: Pick<Workspace, "blobs" | "confinement" | "edits" | "files" | "state">;
  readonly network: Network;
  /** Where a browser is looked for. */
  readonly env: NodeJS.ProcessEnv;
  /** Whether a caller came over a network: what only this machine can reach is then closed. */
  isRemote(caller: Caller): boolean;
}
