import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { attempt, ToolError } from "@octant/core";
import type { Project } from "../projects/project.ts";
import { createRunGit, type RunGit, withoutCredentials } from "./git-repository.ts";

/** The branch of a project without a source. */
const FIRST_BRANCH = "main";
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const MAX_CONFLICTS = 100;
/** What a repository with a working tree has, and what a bare one has. */
const REPOSITORY_MARKS = [".git", "HEAD"];
/**
 * A folder whose working tree is clean follows its branch. Its hooks do not run: git does not pass our settings on to
 * the other side of a push, and core.hooksPath may name a folder that the pushed commits have just changed.
 */
const RECEIVE_IN_FOLDER = [
  "--receive-pack",
  "git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c receive.denyCurrentBranch=updateInstead receive-pack",
];

export type Repositories = ReturnType<typeof createRepositories>;

export interface MergeOutcome {
  readonly into: string;
  readonly commit?: string;
  /** Files that both sides changed; nothing was merged. */
  readonly conflicts: readonly string[];
}

/** The hub's own clones of the projects' sources, one bare repository each. */
export function createRepositories({
  folder,
  env,
  keep = async () => {},
}: {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Stores what the refs of a repository name where it outlives this folder, when hubs do that. */
  keep?(project_id: string): Promise<void>;
}) {
  const gitIn = createRunGit(env);
  const placeOf = (project_id: string) => join(folder, project_id, "repository.git");
  const gitOf = (project_id: string): RunGit => gitIn(placeOf(project_id));
  const branchOf = async ({ id, branch }: Project): Promise<string> =>
    branch ?? (await gitOf(id)(["symbolic-ref", "--short", "HEAD"])).stdout.trim();
  const resolve = async (project_id: string, name: string): Promise<string> => {
    const { code, stdout } = await gitOf(project_id)(
      ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`],
      { also: [1, 128] },
    );
    if (code === 0) return stdout.trim();
    throw new ToolError("NOT_FOUND", `the project has no branch or commit '${name}'`, { id: name });
  };

  return {
    placeOf,
    gitOf,
    branchOf,
    resolve,
    keep,
    /** An empty one, unless there is one: its commits come from elsewhere. */
    async create({ id, source }: Project): Promise<void> {
      const place = placeOf(id);
      if (existsSync(join(place, "HEAD"))) return;
      mkdirSync(join(folder, id), { recursive: true, mode: 0o700 });
      await gitIn(undefined)(["init", "--bare", "--quiet", "--template=", "--", place]);
      if (!("empty" in source)) await connectToSource(gitIn(place), source);
    },
    /** Clones the source; a project without one gets an empty first commit. */
    async prepare(project: Project, { signal }: { readonly signal: AbortSignal }): Promise<void> {
      const place = placeOf(project.id);
      mkdirSync(join(folder, project.id), { recursive: true, mode: 0o700 });
      try {
        const { source } = project;
        if ("empty" in source) await createEmpty(gitIn, place, signal);
        else {
          if ("folder" in source) checkFolder(source.folder);
          const from = "url" in source ? source.url : source.folder;
          await gitIn(undefined)(["clone", "--bare", "--quiet", "--", from, place], { signal });
          await checkCommits(gitIn(place), withoutCredentials(from));
          await connectToSource(gitIn(place), source);
        }
        await resolve(project.id, await branchOf(project));
      } catch (cause) {
        rmSync(join(folder, project.id), { recursive: true, force: true });
        throw cause;
      }
    },
    /** Gets what is new in the source, and moves the branches that only the source changed. */
    async refresh(project: Project, signal?: AbortSignal): Promise<void> {
      if ("empty" in project.source) return;
      const git = gitOf(project.id);
      await git(["fetch", "--quiet", "--prune", "origin"], { signal });
      const branch = await branchOf(project);
      const theirs = await git(["rev-parse", "--verify", "--quiet", `refs/remotes/origin/${branch}`], {
        also: [1],
      });
      if (theirs.code !== 0) return;
      const [ours, new_] = [await resolve(project.id, branch), theirs.stdout.trim()];
      const { code } = await git(["merge-base", "--is-ancestor", ours, new_], { also: [1] });
      if (code === 0) await git(["update-ref", `refs/heads/${branch}`, new_, ours]);
    },
    /** Merges a commit into a branch without a working tree. */
    async merge(
      project: Project,
      {
        commit,
        into,
        message,
        check,
      }: {
        readonly commit: string;
        readonly into?: string | undefined;
        readonly message: string;
        /** Throws when these paths of the branch must not change. */
        check(paths: readonly string[]): void;
      },
    ): Promise<MergeOutcome> {
      const git = gitOf(project.id);
      const branch = into ?? (await branchOf(project));
      const ours = await resolve(project.id, `refs/heads/${branch}`);
      const { code: isMerged } = await git(["merge-base", "--is-ancestor", commit, ours], { also: [1] });
      if (isMerged === 0) return { into: branch, commit: ours, conflicts: [] };
      const { code, stdout } = await git(["merge-tree", "--write-tree", "--name-only", "-z", ours, commit], {
        also: [1],
      });
      const [tree = "", ...rest] = stdout.split("\0");
      if (code === 1)
        return {
          into: branch,
          conflicts: [...new Set(rest.slice(0, rest.indexOf("")))].slice(0, MAX_CONFLICTS),
        };
      const names = ["diff", "--name-only", "-z", "--no-renames", ours, tree];
      check((await git(names)).stdout.split("\0").filter((path) => path !== ""));
      const merged = (
        await git(["commit-tree", tree, "-p", ours, "-p", commit, "-F", "-"], { input: message })
      ).stdout.trim();
      // Refused when somebody moved the branch meanwhile.
      await git(["update-ref", "-m", "merge", `refs/heads/${branch}`, merged, ours]);
      await keep(project.id);
      return { into: branch, commit: merged, conflicts: [] };
    },
    /** Sends a branch to the source; the reason when it is refused. */
    async push(project: Project, branch: string, signal?: AbortSignal): Promise<string | undefined> {
      if ("empty" in project.source) return "the project has no source";
      try {
        const ref = `refs/heads/${branch}`;
        const isFolder = "folder" in project.source;
        await gitOf(project.id)(
          ["push", "--quiet", ...(isFolder ? RECEIVE_IN_FOLDER : []), "origin", `${ref}:${ref}`],
          { signal },
        );
        return undefined;
      } catch (cause) {
        if (cause instanceof ToolError && cause.code === "VCS_ERROR") return cause.message;
        throw cause;
      }
    },
    /** Commits of `commit` that no branch of the hub or of the source has. */
    async unmerged(project_id: string, commit: string): Promise<number> {
      const args = ["rev-list", "--count", commit, "--not", "--branches", "--remotes"];
      return Number((await gitOf(project_id)(args)).stdout);
    },
    remove(project_id: string): void {
      rmSync(join(folder, project_id), { recursive: true, force: true });
    },
  };
}

/** git reports a folder that is not a repository as missing. */
function checkFolder(folder: string): void {
  const found = attempt(() => statSync(folder));
  if (!found)
    throw new ToolError("NOT_FOUND", `the hub's machine has no folder ${folder} that the hub can read`, {});
  if (!found.isDirectory())
    throw new ToolError("NOT_A_DIRECTORY", `${folder} is not a folder`, { uri: folder });
  if (REPOSITORY_MARKS.some((name) => existsSync(join(folder, name)))) return;
  const how = "run git init, git add and git commit there first, or name a git URL as source_url";
  throw new ToolError("NOT_A_REPOSITORY", `${folder} is not a git repository; ${how}`, { uri: folder });
}

async function checkCommits(git: RunGit, from: string): Promise<void> {
  const { stdout } = await git(["for-each-ref", "--count=1", "refs/heads"]);
  if (stdout === "")
    throw new ToolError("VCS_ERROR", `${from} has no commits yet; commit something there first`, {
      exit_code: 0,
    });
}

/** Where the repository fetches from and pushes to. */
export async function connectToSource(
  git: RunGit,
  source: { readonly url: string } | { readonly folder: string },
): Promise<void> {
  await git(["config", "remote.origin.url", "url" in source ? source.url : source.folder]);
  await git(["config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"]);
}

async function createEmpty(
  gitIn: (folder: string | undefined) => RunGit,
  place: string,
  signal: AbortSignal,
) {
  await gitIn(undefined)(["init", "--bare", "--quiet", "--template=", "--", place], { signal });
  const git = gitIn(place);
  await git(["hash-object", "-t", "tree", "-w", "--stdin"], { input: "" });
  const { stdout } = await git(["commit-tree", EMPTY_TREE, "-m", "Create the project"]);
  await git(["update-ref", `refs/heads/${FIRST_BRANCH}`, stdout.trim()]);
}
