import { action, type Context, counted, invalidArgument, ofKind, ToolError, Uri } from "@octant/core";
import {
  emptyTree,
  findCommit,
  findHead,
  makeDiff,
  type Path,
  type Repository,
  readStatus,
} from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { PatchPage, patchInput, patchText, toPatchPage } from "./patch-page.ts";
import { GitRef, openRepository, Repo, Staged, type VcsWorkspace } from "./workspace.ts";

export const diff = (workspace: VcsWorkspace) =>
  action({
    summary: "Show changes as a patch: working tree, staged, against a ref, or between refs a..b.",
    ...INSPECT,
    leavesOut: true,
    input: z.strictObject({
      ref: GitRef.optional().describe("Or a..b"),
      staged: Staged,
      path: ofKind("tree", Uri.optional()),
      repo: Repo,
      ...patchInput,
    }),
    output: z.object({
      ...PatchPage,
      untracked: z.array(Uri).optional().describe("New files that git does not track; not in the patch"),
      untracked_count: z.int().optional().describe("When there are more of them"),
    }),
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
    text(data, reader) {
      const { untracked, untracked_count } = data;
      const shown = patchText(data, reader);
      if (!untracked) return shown;
      const count = counted(untracked_count ?? untracked.length, "untracked file");
      const note = `${count} not in the patch: ${untracked.map(reader.path).join(", ")}`;
      return { ...shown, notes: [...(shown.notes ?? []), note] };
    },
    async run({ ref, staged, path: asked, repo, limit, max_bytes }, ctx) {
      const { repository, path } = openRepository(workspace, asked, repo, ctx);
      const page = await toPatchPage({ ctx, blobs: workspace.blobs, limit, max_bytes }, async () => {
        const trees = await toTrees(repository, ref, staged);
        const root = workspace.confinement.roots[0]!;
        return makeDiff(repository, { trees, staged, path, root });
      });
      const comparesFiles = !staged && !RANGE.test(ref ?? "");
      return comparesFiles ? { ...page, ...(await listUntracked(repository, path, ctx)) } : page;
    },
  });

const MAX_UNTRACKED = 20;

/** git leaves new files out of a diff, which would then say that nothing changed. */
async function listUntracked(repository: Repository, path: Path | undefined, ctx: Context) {
  const { entries } = await readStatus(repository, { path });
  const uris = entries
    .filter(({ kind, uri }) => kind === "untracked" && ctx.hides(uri) === undefined)
    .map(({ uri }) => uri);
  return {
    ...(uris.length > 0 && { untracked: uris.slice(0, MAX_UNTRACKED) }),
    ...(uris.length > MAX_UNTRACKED && { untracked_count: uris.length }),
  };
}

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
