import type { Path } from "@octant/host";
import type { ProjectFiles } from "../project-files.ts";
import { joinPath, parentOf, resolvePath } from "./paths.ts";

export interface GitFacts {
  /** The top of the working tree. */
  readonly top: Path;
  readonly branch: string | null;
  /** Set when no branch is checked out. */
  readonly commit?: string;
  /** Whether the repository itself is elsewhere: a linked worktree or a submodule. */
  readonly linked: boolean;
}

/** Reads `.git` as plain files: an untrusted repository must not run anything. */
export function findGit(files: ProjectFiles, start: Path): GitFacts | undefined {
  for (let top = start; ; top = parentOf(top)) {
    const entries = files.entries(top);
    if (entries.folders.includes(".git")) {
      return { top, linked: false, ...readHead(files, joinPath(top, ".git")) };
    }
    if (entries.files.includes(".git")) {
      const folder = linkedFolder(files, top);
      return { top, linked: true, ...(folder === undefined ? { branch: null } : readHead(files, folder)) };
    }
    if (top === "") return undefined;
  }
}

/** The target of `gitdir: …` in a `.git` file; undefined when it is outside the workspace. */
function linkedFolder(files: ProjectFiles, top: Path): Path | undefined {
  const [, written] = /^gitdir: ([^\r\n]+)/.exec(files.text(joinPath(top, ".git")) ?? "") ?? [];
  if (written === undefined) return undefined;
  return written.startsWith(`${files.root}/`)
    ? resolvePath("", written.slice(files.root.length + 1))
    : resolvePath(top, written);
}

function readHead(files: ProjectFiles, folder: Path): Pick<GitFacts, "branch" | "commit"> {
  const head = files.text(joinPath(folder, "HEAD"))?.trim() ?? "";
  const [, branch] = /^ref: refs\/heads\/(\S{1,500})$/.exec(head) ?? [];
  if (branch !== undefined) return { branch };
  return /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(head) ? { branch: null, commit: head } : { branch: null };
}
