import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ToolError } from "@octant/core";
import {
  createConfinement,
  createGit,
  listChanged,
  type Repository,
  STAGE,
  type Workspace,
} from "@octant/host";
import { z } from "zod";
import { lockSession } from "./sessions.ts";

/** Work of a sub-agent that ended without being merged. */
export interface LeftWork {
  readonly agent_id: string;
  readonly branch: string;
  /** Its worktree, while it has changes that could not be committed. */
  readonly folder?: string;
}

const VERSION = 1;
const Recorded = z.object({ folder: z.string(), base: z.string() });
const Newer = z.object({ version: z.number().gt(VERSION) });
const RECORD = /^(agent_[0-9a-z]+)\.json$/;
const MAX_SUBJECT_CHARS = 72;

/**
 * The worktrees of sub-agents, recorded before they are created, so that a later process finds those of a killed one.
 */
export function openWorktreeRecords(
  { state, confinement }: Pick<Workspace, "state" | "confinement">,
  env: NodeJS.ProcessEnv,
) {
  const records = state.folder("worktrees");
  const fileOf = (agent_id: string) => join(records, `${agent_id}.json`);
  // Runs without a sandbox because worktrees lie elsewhere; hooks and filters stay disabled.
  const open = () => createGit({ confinement, env }).open();
  const drop = (agent_id: string): undefined => {
    for (const file of [fileOf(agent_id), `${fileOf(agent_id)}.lock`]) rmSync(file, { force: true });
  };

  /** Commits the rest of the work and removes the worktree; removes the branch too if it has no unmerged work. */
  const settle = async (agent_id: string): Promise<LeftWork | undefined> => {
    const branch = `octant/${agent_id}`;
    const recorded = readRecord(fileOf(agent_id));
    // Records are written before their worktrees, so a broken one has none.
    if (recorded === "newer") return { agent_id, branch };
    if (!recorded) return drop(agent_id);
    const { folder, base } = recorded;
    try {
      const repository = open();
      if (existsSync(folder)) {
        const own = createGit({ confinement: createConfinement([folder]), env }).open();
        await commitAll(own, "Unfinished work", agent_id);
        await repository.run(["worktree", "remove", "--force", folder]);
      }
      rmSync(dirname(folder), { recursive: true, force: true });
      await repository.run(["worktree", "prune"]);
      if (await hasUnmerged(repository, branch, base)) return { agent_id, branch };
      await repository.run(["branch", "--quiet", "-D", branch], { codes: [0, 1] });
      return drop(agent_id);
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      return { agent_id, branch, ...(existsSync(folder) && { folder }) };
    }
  };

  return {
    settle,
    /** Creates the worktree on a new branch. The returned function says that its owner has ended. */
    async add(agent_id: string, folder: string): Promise<() => Promise<void>> {
      const repository = open();
      const base = (await repository.run(["rev-parse", "--verify", "HEAD"])).stdout.toString().trim();
      const release = await lockSession(fileOf(agent_id));
      try {
        writeFileSync(fileOf(agent_id), JSON.stringify({ version: VERSION, folder, base }), { mode: 0o600 });
        await repository.run(["worktree", "add", "--quiet", "-b", `octant/${agent_id}`, folder, base]);
      } catch (cause) {
        rmSync(dirname(folder), { recursive: true, force: true });
        await release();
        drop(agent_id);
        throw cause;
      }
      return release;
    },
    /** Settles the worktrees of processes that died, and lists all unmerged work. */
    async sweep(): Promise<readonly LeftWork[]> {
      const left: LeftWork[] = [];
      for (const name of readdirSync(records)) {
        const agent_id = RECORD.exec(name)?.[1];
        if (agent_id === undefined) continue;
        const release = await lockSession(fileOf(agent_id)).catch(whenLocked);
        if (!release) continue;
        try {
          const work = await settle(agent_id);
          if (work) left.push(work);
        } finally {
          await release();
          if (!existsSync(fileOf(agent_id))) drop(agent_id);
        }
      }
      return left;
    },
  };
}

function readRecord(file: string): z.output<typeof Recorded> | "newer" | undefined {
  try {
    const stored: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Newer.safeParse(stored).success ? "newer" : Recorded.parse(stored);
  } catch {
    return undefined;
  }
}

/** Its owner is running. */
function whenLocked(cause: unknown): undefined {
  if (!(cause instanceof ToolError) || cause.code !== "LOCKED") throw cause;
}

/** Whether the branch has commits of its own that no other branch has. */
async function hasUnmerged(repository: Repository, branch: string, base: string): Promise<boolean> {
  const ref = `refs/heads/${branch}`;
  const { code, stdout } = await repository.run(["rev-parse", "--verify", "--quiet", ref], { codes: [0, 1] });
  const tip = stdout.toString().trim();
  if (code !== 0 || tip === base) return false;
  const refs = await repository.run([
    ...["for-each-ref", "--format=%(refname)", `--contains=${tip}`, "refs/heads", "refs/remotes"],
  ]);
  return refs.stdout.toString().trim() === ref;
}

/** Commits everything that is not ignored; nothing when there is nothing. */
export async function commitAll(repository: Repository, task: string, agent_id: string): Promise<void> {
  await repository.run(STAGE, { input: await listChanged(repository) });
  const { code } = await repository.run(["diff", "--cached", "--quiet"], { codes: [0, 1] });
  if (code === 0) return;
  const [line = ""] = task.split("\n", 1);
  const subject = line.slice(0, MAX_SUBJECT_CHARS).toWellFormed();
  await repository.run(["commit", "--quiet", "--message", `${subject}\n\nMade by sub-agent ${agent_id}.`]);
}

/** How to recover or delete the work. */
export const describeLeftWork = ({ branch, folder }: LeftWork): string =>
  folder === undefined
    ? `unmerged work of a sub-agent is on the branch ${branch}: git merge ${branch} takes it, git branch -D ${branch} drops it`
    : `uncommitted work of a sub-agent is in ${folder} on the branch ${branch}: git add and git commit there keep it, git worktree remove --force ${folder} drops it`;
