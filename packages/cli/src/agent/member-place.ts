import { agentTool, type Crew, type MemberPlan } from "@octant/agent";
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
  close(): Promise<void>;
}

type PlaceOptions = Required<Pick<OctantOptions, "env">> &
  Pick<OctantOptions, "permissions" | "prompter" | "allow"> & { readonly crew: () => Crew };

/**
 * Sub-agents have the tools of their parent, and those of an agent in a worktree work there too. A server that offers
 * none for the project gives them the usual ones.
 */
export function createMemberPlaces(root: Octant, { crew, ...options }: PlaceOptions): MemberPlaces {
  const own = GROUPS.core.filter((tool) => root.registry.get(tool) !== undefined);
  const hasOwn = own.some((tool) => tool !== "job");
  const narrowed = {
    ...options,
    ...(root.fixedMode && { mode: root.fixedMode }),
    tools: hasOwn ? own : GROUPS.core,
    // Sub-agents of all places are members of one crew, with common limits.
    customTools: root.registry.get("agent") ? [agentTool(async () => crew())] : [],
    // The root's rules apply everywhere.
    config: root.config,
  };
  const worktrees = new Map<string, Octant>();
  let usual: Octant | undefined;
  const openUsual = () => {
    usual ??= createOctant({ ...narrowed, roots: [...root.workspace.confinement.roots] });
    return usual;
  };
  return {
    async open({ agent_id, above, worktree: isApart }) {
      const outer = above.map((one) => worktrees.get(one.agent_id)).find((octant) => octant !== undefined);
      if (!isApart) return { octant: outer ?? (hasOwn ? root : openUsual()) };
      const worktree = await openWorktree({
        ...{ agent_id, options: narrowed, parent: (outer ?? root).workspace, state: root.workspace.state },
      });
      worktrees.set(agent_id, worktree.octant);
      return { octant: worktree.octant, worktree };
    },
    close: async () => usual?.close(),
  };
}
