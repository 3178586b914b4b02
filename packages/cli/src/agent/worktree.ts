import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WorktreeOutcome } from "@octant/agent";
import { createGit } from "@octant/host";
import { createOctant, type Octant, type OctantOptions } from "../octant.ts";

/** A git worktree on a new branch, with tools on it. */
export interface Worktree {
  readonly octant: Octant;
  /** Commits the changes and merges them; on conflicts nothing is merged and the branch stays. */
  merge(message: string): Promise<WorktreeOutcome>;
  /** Removes the folder; an unmerged branch stays. */
  close(): Promise<void>;
}

const MAX_SUBJECT_CHARS = 72;

export async function openWorktree(
  parent: Octant,
  agent_id: string,
  options: Required<Pick<OctantOptions, "env">> & Pick<OctantOptions, "permissions" | "prompter" | "allow">,
): Promise<Worktree> {
  const { confinement, sandbox } = parent.workspace;
  const { env } = options;
  // Runs without a sandbox because the new folder lies elsewhere; hooks and filters stay disabled.
  const maker = createGit({ confinement, env }).open();
  const repository = createGit({ confinement, env, sandbox }).open();
  const branch = `octant/${agent_id}`;
  const folder = join(realpathSync(mkdtempSync(join(tmpdir(), "octant-worktree-"))), "tree");
  await maker.run(["worktree", "add", "--quiet", "-b", branch, folder, "HEAD"]);
  const octant = createOctant({
    ...options,
    roots: [folder],
    // The parent's rules apply in the worktree too.
    config: parent.config,
  });
  let isMerged = false;
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

  const commit = async (task: string): Promise<boolean> => {
    const own = createGit({
      confinement: octant.workspace.confinement,
      env,
      sandbox: octant.workspace.sandbox,
    }).open();
    await own.run(["add", "--all"]);
    const { code } = await own.run(["diff", "--cached", "--quiet"], { codes: [0, 1] });
    if (code === 0) return false;
    const [line = ""] = task.split("\n", 1);
    const subject = line.slice(0, MAX_SUBJECT_CHARS).toWellFormed();
    await own.run(["commit", "--quiet", "--message", `${subject}\n\nMade by sub-agent ${agent_id}.`]);
    return true;
  };
  return {
    octant,
    async merge(task) {
      const hasChanged = await commit(task);
      if (!hasChanged) {
        isMerged = true;
        return { branch, merged: true, conflicts: [], note: "it changed nothing" };
      }
      const merged = await repository.run(["merge", "--no-ff", "--no-edit", branch], {
        codes: [0, 1, 2, 128],
      });
      if (merged.code === 0) {
        isMerged = true;
        return { branch, merged: true, conflicts: [] };
      }
      const unmerged = await names(["diff", "--name-only", "--diff-filter=U", "-z"]);
      if (unmerged.length > 0) {
        await repository.run(["merge", "--abort"]);
        return { branch, merged: false, conflicts: unmerged, note: `git merge ${branch} repeats it` };
      }
      const conflicts = await uncommittedIn(await names(["diff", "--name-only", "-z", `HEAD...${branch}`]));
      const note =
        conflicts.length > 0
          ? `these files have uncommitted changes; commit or stash them, then: git merge ${branch}`
          : String(merged.stderr).trim();
      return { branch, merged: false, conflicts, note };
    },
    async close() {
      await octant.close();
      await maker.run(["worktree", "remove", "--force", folder], { codes: [0, 128] });
      if (isMerged) await maker.run(["branch", "--quiet", "-D", branch], { codes: [0, 1] });
      rmSync(join(folder, ".."), { recursive: true, force: true });
    },
  };
}
