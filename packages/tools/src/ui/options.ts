import type { Caller } from "@octant/core";
import type { Browsers, Network, Screen, Workspace } from "@octant/host";

/** The dependencies of the ui tool. */
export interface UiOptions {
  readonly browsers: Browsers;
  readonly screen: Screen;
  readonly network: Pick<Network, "checkUrl">;
  readonly workspace: Pick<Workspace, "blobs" | "confinement" | "edits" | "files" | "state">;
  /** Where to find ffmpeg. */
  readonly env: NodeJS.ProcessEnv;
  /** Whether a caller is remote: this machine's hosts and screen are then unavailable. */
  isRemote(caller: Caller): boolean;
}
