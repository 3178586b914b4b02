import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import type { ContainerSpec } from "../engines/engine.ts";
import type { Images } from "../images/images.ts";
import { CACHE_IN_CONTAINER, type InstallInContainer, SETTINGS_IN_CONTAINER } from "../install.ts";
import type { Project } from "../projects/project.ts";
import { WORKSPACES_IN_CONTAINER, type Workspace } from "../workspaces/workspaces.ts";
import type { Containers } from "./containers.ts";
import type { Proxies } from "./proxies.ts";

/** The folders of a project on the hub's machine. */
export interface ProjectFolders {
  readonly workspaces: string;
  readonly cache: string;
  readonly settings: string;
  /** Names the workspaces in which the post-create commands have run. */
  readonly prepared: string;
}

export interface ProjectContainerOptions {
  readonly images: Pick<Images, "resolve" | "planOf">;
  readonly install: InstallInContainer;
  readonly proxies: Pick<Proxies, "specOf">;
  foldersOf(project_id: string): ProjectFolders;
}

const MAX_REASON_CHARS = 400;

/** The spec of a project's container: its image, the hub's install, its folders and its network access. */
export function createProjectContainer({ images, install, proxies, foldersOf }: ProjectContainerOptions) {
  return {
    async specOf(
      project: Project,
      onLine: (line: string) => void,
      signal: AbortSignal,
    ): Promise<Omit<ContainerSpec, "name" | "labels">> {
      const { workspaces, cache, settings } = foldersOf(project.id);
      const { image, env } = await images.resolve(project, onLine, signal);
      const proxy = proxies.specOf(project);
      mkdirSync(workspaces, { recursive: true, mode: 0o755 });
      return {
        image,
        env: { ...env, ...project.secrets, ...proxy?.env, ...install.env },
        cwd: WORKSPACES_IN_CONTAINER,
        mounts: [
          ...install.mounts,
          { source: settings, target: SETTINGS_IN_CONTAINER, readOnly: true },
          { source: workspaces, target: WORKSPACES_IN_CONTAINER, readOnly: false },
          // Code that Node compiled: a server starts in a fraction of the time. Only this project's containers read it.
          { source: cache, target: CACHE_IN_CONTAINER, readOnly: false },
          ...(proxy?.mounts ?? []),
        ],
        network: project.limits.network,
        forwarder: proxy?.forwarder,
        limits: project.limits,
      };
    },
    /** Runs the post-create commands of devcontainer.json in a workspace, once wherever its files are. */
    async prepare(
      containers: Pick<Containers, "run" | "logOf">,
      project: Project,
      workspace: Workspace,
      cwd: string,
      signal: AbortSignal | undefined,
      mark: PreparedMark = fileMark(join(foldersOf(project.id).prepared, workspace.id)),
    ): Promise<void> {
      if (await mark.isSet()) return;
      const { postCreate } = await images.planOf(project);
      const log = containers.logOf(project.id);
      for (const argv of postCreate) {
        log.add(`postCreateCommand in ${cwd}: ${argv.join(" ")}`);
        const command = { argv, cwd, workspace_id: workspace.id };
        const { code, stdout, stderr } = await containers.run(project, command, signal);
        log.add(`${stdout.toString("utf8")}\n${stderr}`);
        if (code === 0) continue;
        const why = stderr.trim().slice(-MAX_REASON_CHARS);
        const message = `the postCreateCommand of devcontainer.json ended with ${code ?? "a signal"}: ${why}; container.logs shows its output`;
        throw new ToolError("UPSTREAM_ERROR", message, {});
      }
      await mark.set();
    },
  };
}

/** Whether the post-create commands have run in a workspace. */
export interface PreparedMark {
  isSet(): Promise<boolean>;
  set(): Promise<void>;
}

const fileMark = (file: string): PreparedMark => ({
  isSet: async () => existsSync(file),
  set: async () => writeFileSync(file, ""),
});
