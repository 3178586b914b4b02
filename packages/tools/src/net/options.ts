import type { Caller } from "@octant/core";
import type { FindOpener, Network, Workspace } from "@octant/host";

/** What the net tool stands on. */
export interface NetOptions {
  readonly workspace: Pick<Workspace, "blobs" | "confinement" | "edits" | "files" | "state">;
  readonly network: Network;
  /** Says whether there is a desktop session to open a browser in. */
  readonly env: NodeJS.ProcessEnv;
  /** In system folders when absent. */
  readonly findOpener?: FindOpener;
  /** Whether a caller came over a network: what only this machine can reach is then closed. */
  isRemote(caller: Caller): boolean;
}
