import type { Caller } from "@octant/core";
import type { Browsers, Network, Screen, Workspace } from "@octant/host";

/** What the ui tool stands on. */
export interface UiOptions {
  readonly browsers: Browsers;
  readonly screen: Screen;
  readonly network: Pick<Network, "checkUrl">;
  readonly workspace: Pick<Workspace, "blobs" | "confinement" | "edits" | "files" | "state">;
  /** Where ffmpeg is looked for. */
  readonly env: NodeJS.ProcessEnv;
  /** Whether a caller came over a network: neither this machine's hosts nor its screen are theirs. */
  isRemote(caller: Caller): boolean;
}
