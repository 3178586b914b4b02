import type { Mode, Registry } from "@octant/core";
import type { Sandbox } from "@octant/host";
import type { Looking } from "./project-files.ts";

/** What ws is told when it is made; it looks the rest up when it is asked. */
export interface WsOptions {
  readonly workspace: { readonly confinement: Looking };
  /** Asked at each call, so that tools added later are seen. */
  readonly registry: Registry;
  /** Octant's own version. */
  readonly version: string;
  readonly mode?: Mode;
  readonly sandbox: Pick<Sandbox, "status">;
  /** Whether what is kept (blobs, jobs, undo) outlives this process's temporary files. */
  readonly state: { readonly kind: "persistent" | "temporary"; readonly detail?: string };
  /** Further limits worth telling, each with its unit in the name: `max_file_bytes`. */
  readonly limits?: Readonly<Record<string, number>>;
}
