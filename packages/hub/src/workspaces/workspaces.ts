import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { handle, newHandle, parseTextGlob, ToolError } from "@octant/core";
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
}

/** Runs a command in the container of a project; paths are those of the container. */
export type RunInContainer = (
  project: Project,
  command: { readonly argv: readonly string[]; readonly cwd: string },
  signal?: AbortSignal,
) => Promise<{ readonly code: number | null; readonly stdout: Buffer; readonly stderr: string }>;

/** Where the container has the workspaces of its project. */
export const WORKSPACES_IN_CONTAINER = "/workspaces";

export interface WorkspacesOptions {
  readonly store: HubStore;
  readonly repositories: Repositories;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly run: RunInContainer;
}

export type Workspaces = ReturnType<typeof createWorkspaces>;

/**
 * The workspaces of the projects. A container can write to everything in one, so the hub takes commits out of it as a
 * bundle, which git in the container makes and git of the hub only reads.
 */
export function createWorkspaces({ store, repositories, folder, env, run }: WorkspacesOptions) {
  const records = store.records<Workspace>("workspace");
  const gitIn = createRunGit(env);
  const folderOf = (project_id: string) => join(folder, project_id, "workspaces");
  const placeOf = ({ project_id, id }: Workspace) => join(folderOf(project_id), id);
  const pathInContainer = ({ id }: Workspace) => `${WORKSPACES_IN_CONTAINER}/${id}`;
  const refOf = ({ id }: Workspace) => `refs/octant/workspaces/${id}`;

  /** The newest commit of the workspace's branch, brought into the hub's repository. */
  const collect = async (project: Project, workspace: Workspace, signal?: AbortSignal): Promise<string> => {
    const gitInside = async (...args: readonly string[]): Promise<Buffer> => {
      const { code, stdout, stderr } = await run(
        project,
        { argv: ["git", ...args], cwd: pathInContainer(workspace) },
        signal,
      );
      if (code === 0) return stdout;
      const message = `git in the container cannot read the workspace: ${stderr.trim()}`;
      throw new ToolError("VCS_ERROR", message, { exit_code: code });
    };
    const branch = `refs/heads/${workspace.branch}`;
    // git refuses to make a bundle without commits.
    if (String(await gitInside("rev-parse", branch)).trim() === workspace.base) return workspace.base;
    const made = await gitInside("bundle", "create", "-", `${workspace.base}..${branch}`);
    const bundle = join(folder, project.id, `${workspace.id}.bundle`);
    try {
      await writeFile(bundle, made, { mode: 0o600 });
      const git = repositories.gitOf(project.id);
      await git(["fetch", "--quiet", "--no-tags", bundle, `+${branch}:${refOf(workspace)}`], { signal });
    } finally {
      rmSync(bundle, { force: true });
    }
    return repositories.resolve(project.id, refOf(workspace));
  };
  const find = async (id: string): Promise<Workspace> => {
    const found = await records.get(id);
    if (found) return found;
    throw new ToolError("NOT_FOUND", `there is no workspace '${id}'; workspace.list shows them`, { id });
  };
  const changedPaths = async (
    project_id: string,
    base: string,
    commit: string,
  ): Promise<readonly string[]> => {
    const { stdout } = await repositories.gitOf(project_id)([
      "diff",
      "--name-only",
      "-z",
      "--no-renames",
      base,
      commit,
    ]);
    return stdout.split("\0").filter((path) => path !== "");
  };

  return {
    find,
    folderOf,
    pathInContainer,
    collect,
    list: (project_id: string) => records.list({ project_id }),
    async create(
      project: Project,
      { name }: { readonly name?: string | undefined } = {},
      signal?: AbortSignal,
    ): Promise<Workspace> {
      await repositories.refresh(project, signal);
      const id = newHandle("workspace", Date.now());
      const label = name ?? id.slice(-NAME_CHARS);
      const from = await repositories.branchOf(project);
      const base = await repositories.resolve(project.id, `refs/heads/${from}`);
      const workspace: Workspace = {
        id,
        project_id: project.id,
        name: label,
        branch: `octant/${label}`,
        base,
        created_at: new Date().toISOString(),
      };
      await records.add(workspace);
      const place = placeOf(workspace);
      try {
        mkdirSync(folderOf(project.id), { recursive: true, mode: 0o700 });
        // Without hard links: a container must not be able to change the hub's objects.
        const source = repositories.placeOf(project.id);
        const clone = [
          "clone",
          "--quiet",
          "--no-hardlinks",
          "--template=",
          "--branch",
          from,
          "--",
          source,
          place,
        ];
        await gitIn(undefined)(clone, { signal });
        const git = gitIn(place);
        await git(["checkout", "--quiet", "-b", workspace.branch]);
        await git(["remote", "remove", "origin"]);
        await git(["config", "user.name", "Octant"]);
        await git(["config", "user.email", "agent@octant.invalid"]);
        chmodSync(place, 0o755);
      } catch (cause) {
        rmSync(place, { recursive: true, force: true });
        await records.remove(id);
        throw cause;
      }
      return workspace;
    },
    noteSession: (id: string) =>
      records.change(id, (workspace) => ({ ...workspace, last_session_at: new Date().toISOString() })),
    /** The commits and the change since the base. */
    async diff(project: Project, workspace: Workspace, signal?: AbortSignal) {
      const commit = await collect(project, workspace, signal);
      const git = repositories.gitOf(project.id);
      const { stdout: patch } = await git([
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--stat",
        "--patch",
        workspace.base,
        commit,
      ]);
      const { stdout: log } = await git(["log", "--format=%h %s", `${workspace.base}..${commit}`]);
      return { commit, patch, commits: log.split("\n").filter((line) => line !== "") };
    },
    /** Throws PROTECTED_PATH when the workspace changed a protected path. */
    async checkProtected(project: Project, workspace: Workspace, commit: string): Promise<void> {
      // A glob that cannot be evaluated protects everything.
      const globs = (project.protected_paths ?? []).map((rule) => ({
        rule,
        matches: parseTextGlob(rule) ?? (() => true),
      }));
      for (const path of await changedPaths(project.id, workspace.base, commit)) {
        const hit = globs.find(({ matches }) => matches(path));
        if (!hit) continue;
        const message = `the workspace changed ${path}, which the project protects (${hit.rule}); nothing was merged`;
        throw new ToolError("PROTECTED_PATH", message, { uri: path, rule: hit.rule });
      }
    },
    /** Throws CONFIRM_REQUIRED when it has commits that exist nowhere else. */
    async remove(
      project: Project,
      workspace: Workspace,
      { force }: { readonly force: boolean },
    ): Promise<void> {
      if (!force) {
        const commit = await collect(project, workspace);
        const count = await repositories.unmerged(project.id, commit);
        if (count > 0)
          throw new ToolError(
            "CONFIRM_REQUIRED",
            `workspace ${workspace.name} has ${count} commits that no branch has; merge it, or pass force`,
            { would: { delete_commits: count } },
          );
      }
      rmSync(placeOf(workspace), { recursive: true, force: true });
      await repositories.gitOf(project.id)(["update-ref", "-d", refOf(workspace)]);
      await records.remove(workspace.id);
    },
  };
}

const NAME_CHARS = 8;
