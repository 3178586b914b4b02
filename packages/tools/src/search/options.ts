import type { Workspace } from "@octant/host";
import type { SearchEngine } from "@octant/search";

/** What the tool stands on. The engine is over the files of the same workspace. */
export interface SearchOptions {
  readonly workspace: Pick<Workspace, "confinement" | "ripgrep" | "files" | "blobs">;
  readonly engine: SearchEngine;
}
