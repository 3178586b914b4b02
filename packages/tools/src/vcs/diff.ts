import { action, holding, invalidArgument, ToolError, Uri } from "@octant/core";
import { emptyTree, findCommit, findHead, makeDiff, type Repository } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { PatchPage, patchInput, patchText, toPatchPage } from "./patch-page.ts";
import { GitRef, Repo, Staged, toPlace, type VcsWorkspace } from "./workspace.ts";

export const diff = (workspace: VcsWorkspace) =>
  action({
    summary: "Show changes as a patch: working tree, staged, against a ref, or between refs a..b.",
    ...INSPECT,
    leavesOut: true,
    input: z.strictObject({
      ref: GitRef.optional().describe("Or a..b"),
      staged: Staged,
      path: holding("tree", Uri.optional()),
      repo: Repo,
      ...patchInput,
    }),
    output: z.object(PatchPage),
    errors: [
      "NOT_A_REPOSITORY",
      "NOT_FOUND",
      "OUTSIDE_WORKSPACE",
      "INVALID_CURSOR",
      "TOO_LARGE",
      "VCS_ERROR",
    ],
    examples: [
      { title: "Unstaged changes", input: {} },
      { title: "Changes of a branch", input: { ref: "main...HEAD" } },
    ],
    text: patchText,
    async run({ ref, staged, path: asked, repo, limit, max_bytes }, ctx) {
      const { repository, path } = toPlace(workspace, asked, repo, ctx);
      return toPatchPage({ ctx, blobs: workspace.blobs, limit, max_bytes }, async () => {
        const trees = await toTrees(repository, ref, staged);
        const root = workspace.confinement.roots[0]!;
        return makeDiff(repository, { trees, staged, path, root });
      });
    },
  });

const RANGE = /^(.*?)(\.{2,3})(.*)$/s;

/** `a..b` compares the two; `a...b` compares b with their merge base. */
async function toTrees(repository: Repository, ref: string | undefined, staged: boolean): Promise<string[]> {
  if (ref === undefined) return [];
  const [, from, dots, to] = RANGE.exec(ref) ?? [];
  if (dots === undefined) return [await findTree(repository, ref)];
  if (staged) throw invalidArgument("staged", NOT_BOTH);
  const [a, b] = [await findCommit(repository, from || "HEAD"), await findCommit(repository, to || "HEAD")];
  if (dots === "..") return [a, b];
  const { code, stdout } = await repository.run(["merge-base", a, b], { codes: [0, 1] });
  if (code === 0) return [stdout.toString().trim(), b];
  throw new ToolError("NOT_FOUND", `${ref}: the two have no common history; compare them with '..'`, {
    id: ref,
  });
}

/** Before the first commit everything is new compared to HEAD. */
async function findTree(repository: Repository, ref: string): Promise<string> {
  if (ref !== "HEAD") return findCommit(repository, ref);
  return (await findHead(repository)) ?? emptyTree(repository);
}

const NOT_BOTH = "staged compares the index with one commit, a..b compares two; leave one of them out";
