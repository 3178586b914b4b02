import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { counted, handle, newHandle, parseTextGlob, ToolError } from "@octant/core";
import { stateOf } from "../install.ts";
import type { Project } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import { createRunGit } from "./git-repository.ts";
import type { Repositories } from "./repositories.ts";

export const WorkspaceId = handle("workspace");

/** A clone of the project in which sessions work, on a branch of its own. */
export interface Workspace {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly branch: string;
  /** The commit at which it began. */
  readonly base: string;
  readonly created_at: string;
  readonly last_session_at?: string;
  /** The newest commit of the project's branch that the workspace was given after a conflict. */
  readonly given?: string;
  /** The lease under which a host has its files; absent when none has. */
  readonly lease_id?: string | undefined;
}

/** Runs a command in the container of a project; paths are those of the container. */
export type RunInContainer = (
  project: Project,
  command: {
    readonly argv: readonly string[];
    readonly cwd: string;
    readonly workspace_id: string;
    /** For its stdin. */
    readonly input?: Buffer;
  },
  signal?: AbortSignal,
) => Promise<{ readonly code: number | null; readonly stdout: Buffer; readonly stderr: string }>;

/** The last known commit of a workspace's branch in the hub's repository. */
export const refOf = ({ id }: Workspace) => `refs/octant/workspaces/${id}`;

/** Where the container has the workspaces of its project. */
export const WORKSPACES_IN_CONTAINER = "/workspaces";

export interface WorkspacesOptions {
  readonly store: HubStore;
  readonly repositories: Repositories;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly run: RunInContainer;
  /** Present when hosts have the files; otherwise they are in `folder`. */
  readonly hosted?: HostedFiles | undefined;
}

/** The files of workspaces that are on hosts while they are used. */
export interface HostedFiles {
  /** Whether the hub's repository has all of it, and no host. */
  isAtRest(workspace: Workspace): Promise<boolean>;
  remove(workspace: Workspace): Promise<void>;
}

interface CloneOptions {
  readonly branch: string;
  readonly head: string;
  readonly workspace: Workspace;
  readonly signal: AbortSignal | undefined;
}

export type Workspaces = ReturnType<typeof createWorkspaces>;

/**
 * The workspaces of the projects. A container can write to everything in one, so the hub takes commits out of it as a
 * bundle, which git in the container makes and git of the hub only reads.
 */
export function createWorkspaces(options: WorkspacesOptions) {
  const { store, repositories, folder, env, run, hosted } = options;
  const records = store.records<Workspace>("workspace");
  const gitIn = createRunGit(env);
  const folderOf = (project_id: string) => join(folder, project_id, "workspaces");
  /** Containers do not see it: git of the hub must not run where they can write settings. */
  const stagingOf = (project_id: string) => join(folder, project_id, "staging");
  const placeOf = ({ project_id, id }: Workspace) => join(folderOf(project_id), id);
  const pathInContainer = ({ id }: Workspace) => `${WORKSPACES_IN_CONTAINER}/${id}`;

  /** The newest commit of the workspace's branch, brought into the hub's repository. */
  const collect = async (project: Project, workspace: Workspace, signal?: AbortSignal): Promise<string> => {
    const gitInside = async (...args: readonly string[]): Promise<Buffer> => {
      const { code, stdout, stderr } = await run(
        project,
        { argv: ["git", ...args], cwd: pathInContainer(workspace), workspace_id: workspace.id },
        signal,
      );
      if (code === 0) return stdout;
      const message = `git in the container cannot read the workspace: ${stderr.trim()}`;
      throw new ToolError("VCS_ERROR", message, { exit_code: code });
    };
    const branch = `refs/heads/${workspace.branch}`;
    if (await hosted?.isAtRest(workspace)) return repositories.resolve(project.id, refOf(workspace));
    // git refuses to make a bundle without commits.
    if (String(await gitInside("rev-parse", branch)).trim() === workspace.base) return workspace.base;
    const made = await gitInside("bundle", "create", "-", `${workspace.base}..${branch}`);
    const bundle = join(folder, project.id, `${workspace.id}.bundle`);
    try {
      await writeFile(bundle, made, { mode: 0o600 });
      const git = repositories.gitOf(project.id);
      await git(["fetch", "--quiet", "--no-tags", bundle, `+${branch}:${refOf(workspace)}`], { signal });
      await repositories.keep(project.id);
    } finally {
      rmSync(bundle, { force: true });
    }
    return repositories.resolve(project.id, refOf(workspace));
  };
  const clone = async (source: string, place: string, { branch, head, workspace, signal }: CloneOptions) => {
    // Without hard links: a container must not be able to change the hub's objects.
    const options = ["--quiet", "--no-hardlinks", "--template=", "--branch", branch];
    await gitIn(undefined)(["clone", ...options, "--", source, place], { signal });
    const git = gitIn(place);
    const uploads = ["--upload-pack", "git -c uploadpack.allowAnySHA1InWant=true upload-pack"];
    await git(["fetch", "--quiet", "--no-tags", ...uploads, "origin", head], { signal });
    await git(["checkout", "--quiet", "-b", workspace.branch, head]);
    await git(["remote", "remove", "origin"]);
    await git(["config", "user.name", "Octant"]);
    await git(["config", "user.email", "agent@octant.invalid"]);
    chmodSync(place, 0o755);
  };
  /** Files of the workspace that no commit has. */
  const countUncommitted = async (
    project: Project,
    workspace: Workspace,
    signal?: AbortSignal,
  ): Promise<number> => {
    if (await hosted?.isAtRest(workspace)) return 0;
    const argv = ["git", "status", "--porcelain"];
    const command = { argv, cwd: pathInContainer(workspace), workspace_id: workspace.id };
    const { code, stdout, stderr } = await run(project, command, signal);
    if (code !== 0)
      throw new ToolError("VCS_ERROR", `git in the container cannot read the workspace: ${stderr.trim()}`, {
        exit_code: code,
      });
    return stdout.toString().split("\n").length - 1;
  };
  const refuseUncommitted = async (project: Project, workspace: Workspace): Promise<void> => {
    const files = await countUncommitted(project, workspace);
    if (files > 0)
      throw new ToolError(
        "CONFIRM_REQUIRED",
        `workspace ${workspace.name} has ${counted(files, "file")} that no commit has; commit them, or pass force`,
        { would: { delete_files: files } },
      );
  };
  const refuseLoss = async (project: Project, workspace: Workspace): Promise<void> => {
    await refuseUncommitted(project, workspace);
    const commit = await collect(project, workspace);
    const count = await repositories.unmerged(project.id, commit);
    if (count > 0)
      throw new ToolError(
        "CONFIRM_REQUIRED",
        `workspace ${workspace.name} has ${counted(count, "commit")} that no branch has; merge it, or pass force`,
        { would: { delete_commits: count } },
      );
  };
  const find = async (id: string): Promise<Workspace> => {
    const found = await records.get(id);
    if (found) return found;
    throw new ToolError("NOT_FOUND", `there is no workspace '${id}'; workspace.list shows them`, { id });
  };
  return {
    find,
    folderOf,
    pathInContainer,
    collect,
    countUncommitted,
    /**
     * Gives the workspace the newest state of a branch of the project as `origin/<branch>`, so that its session can merge
     * it. The hub runs no git there: git in the container reads a bundle.
     */
    async giveBranch(project: Project, workspace: Workspace, branch: string, signal?: AbortSignal) {
      const head = await repositories.resolve(project.id, `refs/heads/${branch}`);
      const bundle = join(folder, project.id, `${workspace.id}.given`);
      try {
        const range = [`refs/heads/${branch}`, "--not", workspace.base];
        await repositories.gitOf(project.id)(["bundle", "create", "--quiet", bundle, ...range], { signal });
        const to = `+refs/heads/${branch}:refs/remotes/origin/${branch}`;
        const argv = ["sh", "-c", FETCH_FROM_STDIN, "sh", to];
        const cwd = pathInContainer(workspace);
        const input = await readFile(bundle);
        const command = { argv, cwd, workspace_id: workspace.id, input };
        const { code, stderr } = await run(project, command, signal);
        const message = `git in the container cannot read the project's branch: ${stderr.trim()}`;
        if (code !== 0) throw new ToolError("VCS_ERROR", message, { exit_code: code });
      } finally {
        rmSync(bundle, { force: true });
      }
      await records.change(workspace.id, (one) => ({ ...one, given: head }));
    },
    /** Throws CONFIRM_REQUIRED when it has commits or files that exist nowhere else. */
    refuseLoss,
    list: (project_id: string) => records.list({ project_id }),
    /** `from`: it begins with the commits of this workspace, instead of the newest state of the project's branch. */
    async create(
      project: Project,
      { name, from }: { readonly name?: string | undefined; readonly from?: Workspace | undefined } = {},
      signal?: AbortSignal,
    ): Promise<Workspace> {
      const branch = await repositories.branchOf(project);
      if (!from) await repositories.refresh(project, signal);
      const head = from
        ? await collect(project, from, signal)
        : await repositories.resolve(project.id, `refs/heads/${branch}`);
      const id = newHandle("workspace", Date.now());
      const label = name ?? id.slice(-NAME_CHARS);
      const workspace: Workspace = {
        id,
        project_id: project.id,
        name: label,
        branch: `octant/${label}`,
        base: from?.base ?? head,
        created_at: new Date().toISOString(),
      };
      if (hosted) {
        // The first host that takes it gets its files from here.
        await repositories.gitOf(project.id)(["update-ref", refOf(workspace), head]);
        await repositories.keep(project.id);
        await records.add(workspace);
        return workspace;
      }
      const staged = join(stagingOf(project.id), id);
      try {
        mkdirSync(stagingOf(project.id), { recursive: true, mode: 0o700 });
        await clone(repositories.placeOf(project.id), staged, { branch, head, workspace, signal });
        mkdirSync(folderOf(project.id), { recursive: true, mode: 0o700 });
        await records.add(workspace);
        try {
          renameSync(staged, placeOf(workspace));
        } catch (cause) {
          await records.remove(id);
          throw cause;
        }
      } finally {
        rmSync(staged, { recursive: true, force: true });
      }
      return workspace;
    },
    /** Removes what a killed hub left unfinished. */
    async cleanUp(project_id: string): Promise<void> {
      if (hosted) return;
      rmSync(stagingOf(project_id), { recursive: true, force: true });
      for (const workspace of await records.list({ project_id }))
        if (!existsSync(placeOf(workspace))) await records.remove(workspace.id);
    },
    noteSession: (id: string) =>
      records.change(id, (workspace) => ({ ...workspace, last_session_at: new Date().toISOString() })),
    /** The commits and the change since the base. */
    async diff(project: Project, workspace: Workspace, signal?: AbortSignal) {
      const commit = await collect(project, workspace, signal);
      const uncommitted = await countUncommitted(project, workspace, signal);
      const git = repositories.gitOf(project.id);
      const { base, given } = workspace;
      // Changes that the workspace took over from the project's branch are not its own work.
      const hasTaken =
        given !== undefined &&
        (await git(["merge-base", "--is-ancestor", given, commit], { also: [1, 128] })).code === 0;
      const since = hasTaken ? given : base;
      const { stdout: patch } = await git([
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--stat",
        "--patch",
        since,
        commit,
      ]);
      const { stdout: log } = await git(["log", "--format=%h %s", `${since}..${commit}`]);
      return { commit, patch, commits: log.split("\n").filter((line) => line !== ""), uncommitted };
    },
    /** Throws CONFIRM_REQUIRED when it has commits that exist nowhere else. */
    async remove(
      project: Project,
      workspace: Workspace,
      { force }: { readonly force: boolean },
    ): Promise<void> {
      if (!force) await refuseLoss(project, workspace);
      await hosted?.remove(workspace);
      for (const path of [placeOf(workspace), stateOf(placeOf(workspace))])
        rmSync(path, { recursive: true, force: true });
      await repositories.gitOf(project.id)(["update-ref", "-d", refOf(workspace)]);
      await records.remove(workspace.id);
    },
  };
}

const NAME_CHARS = 8;

const FETCH_FROM_STDIN = `bundle=$(mktemp) && cat > "$bundle" && git fetch --quiet --no-tags "$bundle" "$1"
code=$?; rm -f "$bundle"; exit $code`;

/** Throws PROTECTED_PATH when one of the paths that a merge would change is protected. */
export function checkProtected(project: Project, paths: readonly string[]): void {
  // A glob that cannot be evaluated protects everything.
  const globs = (project.protected_paths ?? []).map((rule) => ({
    rule,
    matches: parseTextGlob(rule) ?? (() => true),
  }));
  for (const path of paths) {
    const hit = globs.find(({ matches }) => matches(path));
    if (!hit) continue;
    const message = `the workspace changed ${path}, which the project protects (${hit.rule}); nothing was merged`;
    throw new ToolError("PROTECTED_PATH", message, { uri: path, rule: hit.rule });
  }
}
