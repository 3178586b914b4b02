import type { Caller } from "@octant/core";
import type { Workspace } from "@octant/host";
import type { SearchEngine } from "@octant/search";

export interface RecallRequest {
  readonly query: string;
  /** The question in other words. */
  readonly also: readonly string[];
  readonly limit: number;
  /** The owner of the sessions. */
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

export interface Recalled {
  /** Such as `session:ses_…#12`. */
  readonly uri: string;
  /** The speaker. */
  readonly kind: string;
  readonly snippet: string;
  readonly score: number;
}

/** The dependencies of the tool. The engine covers the files of the same workspace. */
export interface SearchOptions {
  readonly workspace: Pick<Workspace, "confinement" | "ripgrep" | "files" | "blobs">;
  readonly engine: SearchEngine;
  /** Searches earlier sessions with an agent; without it modality memory is UNSUPPORTED. */
  readonly recall?: (request: RecallRequest) => Promise<readonly Recalled[]>;
}
