import type { MemberPlan } from "@octant/agent";
import { createOctant, type Octant, type OctantOptions } from "../octant.ts";
import { GROUPS } from "../own-tools.ts";
import { openWorktree, type Worktree } from "./worktree.ts";

/** Where a sub-agent works: the tools it calls, on the files it changes. */
export interface MemberPlace {
  readonly octant: Octant;
  readonly worktree?: Worktree;
}

export interface MemberPlaces {
  open(plan: MemberPlan): Promise<MemberPlace>;
  /** Whether the parent has the tool too, or leaves all work on the project to its sub-agents. */
  offers(tool: string): boolean;
  close(): Promise<void>;
}

type PlaceOptions = Required<Pick<OctantOptions, "env">> &
  Pick<OctantOptions, "permissions" | "prompter" | "allow">;

/** Sub-agents have the tools of their parent. A server that offers none for the project gives them the usual ones. */
export function createMemberPlaces(parent: Octant, options: PlaceOptions): MemberPlaces {
  const hasOwn = GROUPS.core.some((tool) => tool !== "job" && parent.registry.get(tool) !== undefined);
  const narrowed = { ...options, ...(parent.fixedMode && { mode: parent.fixedMode }) };
  let usual: Octant | undefined;
  const openUsual = () => {
    usual ??= createOctant({
      ...narrowed,
      roots: [...parent.workspace.confinement.roots],
      config: parent.config,
    });
    return usual;
  };
  return {
    offers: (tool) => !hasOwn || parent.registry.get(tool) !== undefined,
    async open({ agent_id, worktree: isApart }) {
      if (!isApart) return { octant: hasOwn ? parent : openUsual() };
      const worktree = await openWorktree(parent, agent_id, narrowed);
      return { octant: worktree.octant, worktree };
    },
    close: async () => usual?.close(),
  };
}
