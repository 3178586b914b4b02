import { type Context, Uri } from "@octant/core";
import type { Git, Workspace } from "@octant/host";
import { z } from "zod";

/** The dependencies of the vcs tool. */
export interface VcsWorkspace extends Pick<Workspace, "confinement" | "blobs" | "edits"> {
  readonly git: Git;
}

const MAX_REF_CHARS = 1_000;

const isName = (ref: string) => !/^-|[\x00-\x1f\x7f]/.test(ref);

/** A ref name. Options start with a dash, so names must not. */
export const BranchName = z
  .string()
  .min(1)
  .max(MAX_REF_CHARS)
  .refine(
    isName,
    "the name of a branch, tag or commit does not start with '-' and has no control characters",
  );

export const GitRef = BranchName.describe("Branch, tag or commit");

/** Errors of the actions that show content page by page. */
export const CONTENT_ERRORS = [
  "NOT_A_REPOSITORY",
  "NOT_FOUND",
  "NOT_A_FILE",
  "OUTSIDE_WORKSPACE",
  "INVALID_CURSOR",
  "TOO_LARGE",
  "VCS_ERROR",
] as const;

/** For actions that work on the index or on the files. */
export const Staged = z.boolean().default(false).describe("The index instead of the files");

/** Selects the repository when the workspace has several. */
export const Repo = Uri.optional().describe("Folder of the repository");

/** Opens the repository of a call. A path that narrows an action also selects the repository. */
export function openRepository(
  { git, confinement }: VcsWorkspace,
  path: Uri | undefined,
  repo: Uri | undefined,
  ctx: Context,
) {
  ctx.backend("git");
  const asked = path === undefined ? undefined : confinement.toPath(path);
  const repository = git.open(repo === undefined ? asked : confinement.toPath(repo), ctx.signal);
  return { repository, path: asked };
}

const SHORT_HASH_CHARS = 10;
export const short = (hash: string | null | undefined) => hash?.slice(0, SHORT_HASH_CHARS) ?? "";
