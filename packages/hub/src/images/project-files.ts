import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join, posix } from "node:path";
import type { Readable } from "node:stream";
import { newHandle } from "@octant/core";
import type { Project } from "../projects/project.ts";
import type { Repositories } from "../workspaces/repositories.ts";

export type ProjectFiles = ReturnType<typeof createProjectFiles>;

/** The files of a project's branch in the hub's own repository, where no container can change them. */
export function createProjectFiles({
  repositories,
  folder,
}: {
  readonly repositories: Repositories;
  /** For archives while they are sent. */
  readonly folder: string;
}) {
  const commitOf = async (project: Project) =>
    repositories.resolve(project.id, `refs/heads/${await repositories.branchOf(project)}`);
  return {
    /** The first of the paths that is a file, with its text. */
    async firstOf(
      project: Project,
      paths: readonly string[],
    ): Promise<{ readonly path: string; readonly text: string } | undefined> {
      const commit = await commitOf(project);
      for (const path of paths) {
        const { code, stdout } = await repositories.gitOf(project.id)(
          ["cat-file", "blob", `${commit}:${path}`],
          { also: [1, 128] },
        );
        if (code === 0) return { path, text: stdout };
      }
      return undefined;
    },
    /** A tar archive of a folder, `.` for all. `close` removes it. */
    async archive(
      project: Project,
      place: string,
      signal: AbortSignal,
    ): Promise<{ readonly stream: Readable; close(): Promise<void> }> {
      const file = join(folder, `${newHandle("archive", Date.now())}.tar`);
      const tree = `${await commitOf(project)}:${place === "." ? "" : place}`;
      await repositories.gitOf(project.id)(["archive", "--format=tar", "-o", file, tree], { signal });
      return { stream: createReadStream(file), close: () => rm(file, { force: true }) };
    },
  };
}

/** A path of the repository that a file in `from` names; undefined when it leads out. */
export function resolveInside(from: string, path: string): string | undefined {
  const joined = posix.normalize(posix.join(posix.dirname(from), path));
  return posix.isAbsolute(path) || joined === ".." || joined.startsWith("../")
    ? undefined
    : joined.replace(/\/$/, "");
}
