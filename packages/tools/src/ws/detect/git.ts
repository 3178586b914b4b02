import type { Path } from "@octant/host";
import type { z } from "zod";
import type { ProjectFiles } from "../project-files.ts";
import type { Detected } from "./answer.ts";
import { joinPath, parentOf, resolvePath } from "./paths.ts";

/** Reads `.git` as plain files: an untrusted repository must not run anything. */
export function findGit(files: ProjectFiles, start: Path): z.input<typeof Detected>["vcs"] {
  for (let top = start; ; top = parentOf(top)) {
    const entries = files.entries(top);
    const facts = { kind: "git", uri: files.uri(top) } as const;
    if (entries.folders.includes(".git"))
      return { ...facts, linked: false, ...readHead(files, joinPath(top, ".git")) };
    if (entries.files.includes(".git"))
      return { ...facts, linked: true, ...readHead(files, linkedFolder(files, top)) };
    if (top === "") return null;
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

function readHead(files: ProjectFiles, folder: Path | undefined) {
  const head = (folder !== undefined && files.text(joinPath(folder, "HEAD"))?.trim()) || "";
  const [, branch] = /^ref: refs\/heads\/(\S{1,500})$/.exec(head) ?? [];
  if (branch !== undefined) return { branch };
  return /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(head) ? { branch: null, commit: head } : { branch: null };
}
