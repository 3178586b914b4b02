import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WorktreeOutcome } from "@octant/agent";
import { ToolError } from "@octant/core";
import { createGit, type StateFolder, type Workspace } from "@octant/host";
import { createOctant, type Octant, type OctantOptions } from "../octant.ts";
import { commitAll, openWorktreeRecords } from "./worktree-records.ts";

/** A git worktree on a new branch, with tools on it. */
export interface Worktree {
  readonly octant: Octant;
  /**
   * Commits the changes and merges them; on conflicts, and when the work was not finished, nothing is merged and the
   * branch stays.
   */
  finish(task: string, isDone: boolean): Promise<WorktreeOutcome>;
  /** Removes the folder; unmerged work stays on its branch. */
  close(): Promise<void>;
}

export interface WorktreeOptions {
  readonly agent_id: string;
  /** The workspace from whose last commit it starts, and into which it is merged. */
  readonly parent: Workspace;
  /** Of the project. */
  readonly state: StateFolder;
  readonly options: OctantOptions & Required<Pick<OctantOptions, "env">>;
}

export async function openWorktree(given: WorktreeOptions): Promise<Worktree> {
  const { agent_id, options } = given;
  const { confinement, sandbox } = given.parent;
  const { env } = options;
  const records = openWorktreeRecords({ confinement, state: given.state }, env);
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
        if (isDone) return { branch, ...(await merge()) };
        const note = `it did not finish; git merge ${branch} takes what it did`;
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
