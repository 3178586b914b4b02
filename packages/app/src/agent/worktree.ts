import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  agentTool,
  type Crew,
  type MemberHost,
  type MemberHosts,
  type MemberPlan,
  type WorktreeOutcome,
} from "@octant/agent";
import { ToolError } from "@octant/core";
import { createGit, type StateFolder, type Workspace } from "@octant/host";
import { createLocalHost } from "../host/local-host.ts";
import { createOctant, type Octant, type OctantOptions } from "../octant.ts";
import { GROUPS } from "../tools/own-tools.ts";
import { commitAll, openWorktreeRecords } from "./worktree-records.ts";

type PlaceOptions = Required<Pick<OctantOptions, "env">> &
  Pick<OctantOptions, "permissions" | "allow"> & { readonly crew: () => Crew };

/**
 * Sub-agents have the tools of their parent, and those of an agent in a worktree work there too. A server that offers
 * none for the project gives them the usual ones.
 */
export function createMemberHosts(root: Octant, { crew, ...options }: PlaceOptions): MemberHosts {
  const own = GROUPS.core.filter((tool) => root.registry.get(tool) !== undefined);
  const hasOwn = own.some((tool) => tool !== "job");
  const narrowed = {
    ...options,
    ...(root.fixedMode && { mode: root.fixedMode }),
    tools: hasOwn ? own : GROUPS.core,
    // Sub-agents of all places are members of one crew, with common limits.
    customTools: root.registry.get("agent") ? [agentTool(async () => crew())] : [],
    // The root's rules apply everywhere, its audit log has all calls, and its front ends answer all questions.
    config: root.config,
    stores: root.stores,
    questions: root.questions,
  };
  const worktrees = new Map<string, Octant>();
  let usual: Octant | undefined;
  const openUsual = () => {
    usual ??= createOctant({ ...narrowed, roots: [...root.workspace.confinement.roots] });
    return usual;
  };
  const toHost = (octant: Octant, { parent, task }: MemberPlan, worktree?: Worktree): MemberHost => ({
    host: createLocalHost(octant, options.env),
    async join(caller) {
      octant.modes.adopt(caller, root.modes, parent);
      octant.sessionRules.adopt(caller, root.sessionRules, parent);
    },
    finish: worktree && ((isDone) => worktree.finish(task, isDone)),
    close: async () => worktree?.close(),
  });
  return {
    async open(plan) {
      const { agent_id, above, worktree: isApart } = plan;
      const outer = above.map((one) => worktrees.get(one.agent_id)).find((octant) => octant !== undefined);
      if (!isApart) return toHost(outer ?? (hasOwn ? root : openUsual()), plan);
      const { state } = root.workspace;
      const { confinement } = root.workspace;
      const { top } = createGit({ confinement, env: options.env }).open();
      const place = { ...narrowed, copyOf: { top, roots: confinement.roots } };
      const worktree = await openWorktree(agent_id, (outer ?? root).workspace, state, place);
      worktrees.set(agent_id, worktree.octant);
      return toHost(worktree.octant, plan, worktree);
    },
    close: async () => usual?.close(),
  };
}

/** A git worktree on a new branch, with tools on it. */
interface Worktree {
  readonly octant: Octant;
  /**
   * Commits the changes and merges them; on conflicts, and when the work was not finished, nothing is merged and the
   * branch stays.
   */
  finish(task: string, isDone: boolean): Promise<WorktreeOutcome>;
  /** Removes the folder; unmerged work stays on its branch. */
  close(): Promise<void>;
}

/** It starts from the parent's last commit, and is merged into the parent. */
async function openWorktree(
  agent_id: string,
  { confinement, sandbox, checkpoints }: Workspace,
  state: StateFolder,
  options: OctantOptions & Required<Pick<OctantOptions, "env">>,
): Promise<Worktree> {
  const { env } = options;
  const records = openWorktreeRecords({ confinement, state }, env);
  const repository = createGit({ confinement, env, sandbox }).open();
  const branch = `octant/${agent_id}`;
  const folder = join(realpathSync(mkdtempSync(join(tmpdir(), "octant-worktree-"))), "tree");
  const release = await records.add(agent_id, folder);
  const octant = createOctant({ ...options, roots: [folder] });
  const names = async (args: readonly string[]): Promise<string[]> =>
    (await repository.run(args)).stdout.toString().split("\0").filter(Boolean);
  /** Git merges nothing over these. */
  const uncommittedIn = async (paths: readonly string[]): Promise<string[]> => {
    const changed = new Set([
      ...(await names(["diff", "--name-only", "-z", "HEAD"])),
      ...(await names(["ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/"])),
    ]);
    return paths.filter((path) => changed.has(path));
  };
  const isMerged = async () =>
    (await repository.run(["merge-base", "--is-ancestor", branch, "HEAD"], { codes: [0, 1] })).code === 0;

  const merge = async (): Promise<Omit<WorktreeOutcome, "branch">> => {
    const { code, stderr } = await repository.run(["merge", "--no-ff", "--no-edit", branch], {
      codes: [0, 1, 2, 128],
    });
    if (code === 0) return { merged: true, conflicts: [] };
    const unmerged = await names(["diff", "--name-only", "--diff-filter=U", "-z"]);
    if (unmerged.length > 0) {
      await repository.run(["merge", "--abort"]);
      return { merged: false, conflicts: unmerged, note: `git merge ${branch} repeats it` };
    }
    const conflicts = await uncommittedIn(await names(["diff", "--name-only", "-z", `HEAD...${branch}`]));
    const note =
      conflicts.length > 0
        ? `these files have uncommitted changes; commit or stash them, then: git merge ${branch}`
        : stderr.trim();
    return { merged: false, conflicts, note };
  };
  return {
    octant,
    async finish(task, isDone) {
      try {
        const own = octant.workspace;
        await commitAll(createGit({ ...own, env }).open(), task, agent_id);
        if (await isMerged()) return { branch, merged: true, conflicts: [], note: "it changed nothing" };
        if (isDone) return { branch, ...(await checkpoints.during(`git merge ${branch}`, merge)) };
        const note = `it did not finish; git merge ${branch} merges its changes`;
        return { branch, merged: false, conflicts: [], note };
      } catch (cause) {
        if (!(cause instanceof ToolError)) throw cause;
        return { branch, merged: false, conflicts: [], note: cause.message };
      }
    },
    async close() {
      await octant.close();
      await records.settle(agent_id);
      await release();
    },
  };
}
