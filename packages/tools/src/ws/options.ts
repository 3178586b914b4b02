import type { Mode, Registry } from "@octant/core";
import type { Sandbox } from "@octant/host";
import type { Looking } from "./project-files.ts";
import type { SkillSource } from "./skill.ts";

/** The dependencies of ws; it looks up the rest at each call. */
export interface WsOptions {
  readonly workspace: { readonly confinement: Looking };
  /** Read at each call, so that tools added later are included. */
  readonly registry: Registry;
  /** Octant's own version. */
  readonly version: string;
  readonly mode?: Mode;
  readonly sandbox: Pick<Sandbox, "status">;
  /** Whether stored data (blobs, jobs, undo) outlives this process. */
  readonly state: { readonly kind: "persistent" | "temporary"; readonly detail?: string };
  /** Additional limits to report, each with its unit in the name: `max_file_bytes`. */
  readonly limits?: Readonly<Record<string, number>>;
  /** Read at each call. */
  readonly skills?: SkillSource;
}
