import type { Caller } from "@octant/core";
import type { FindOpener, Network, Workspace } from "@octant/host";
import type { SearchSettings } from "./search-providers.ts";

/** The dependencies of the net tool. */
export interface NetOptions {
  readonly workspace: Pick<Workspace, "blobs" | "confinement" | "edits" | "files" | "state">;
  readonly network: Network;
  /** Shows whether there is a desktop session with a browser. */
  readonly env: NodeJS.ProcessEnv;
  /** The web search of the settings. */
  readonly search?: SearchSettings;
  /** In system folders when absent. */
  readonly findOpener?: FindOpener;
  /** Whether a caller is remote: hosts that only this machine can reach are then blocked. */
  isRemote(caller: Caller): boolean;
}
