import { action, invalidArgument, pagingInput } from "@octant/core";
import { createBranch, deleteBranch, listBranches } from "@octant/host";
import { z } from "zod";
import { APPLY } from "../kinds.ts";
import { openStoredRows } from "../stored-rows.ts";
import { BranchName, GitRef, openRepository, Repo, short, type VcsWorkspace } from "./workspace.ts";

const Branch = z.object({
  name: z.string(),
  hash: z.string(),
  current: z.boolean(),
  remote: z.boolean().describe("A remote branch, as last fetched"),
  upstream: z.string().nullable(),
  ahead: z.int(),
  behind: z.int(),
  gone: z.boolean().describe("The upstream no longer exists"),
  date: z.string(),
  subject: z.string(),
});

export const branch = (workspace: VcsWorkspace) =>
  action({
    summary: "List, create or delete branches; a branch with unmerged commits is deleted only when forced.",
    ...APPLY,
    destructive: true,
    input: z.strictObject({
      op: z.enum(["list", "create", "delete"]).default("list"),
      name: BranchName.optional(),
      ref: GitRef.optional(),
      force: z.boolean().default(false).describe("Discard changes that would be lost"),
      repo: Repo,
      ...pagingInput(100, 1_000),
    }),
    output: z.object({
      branches: z.array(Branch).optional(),
      name: z.string().optional(),
      hash: z.string().optional().describe("The branch's commit, also after deletion"),
    }),
    errors: [
      "NOT_A_REPOSITORY",
      "NOT_FOUND",
      "ALREADY_EXISTS",
      "CONFIRM_REQUIRED",
      "INVALID_CURSOR",
      "OUTSIDE_WORKSPACE",
      "VCS_ERROR",
    ],
    examples: [
      { title: "List branches", input: {} },
      { title: "Create a branch", input: { op: "create", name: "feature" } },
    ],
    text({ branches, name, hash }) {
      if (!branches) return { body: `${name} at ${short(hash)}` };
      const lines = branches.map((one) => {
        const distance = one.ahead || one.behind ? ` [${one.ahead} ahead, ${one.behind} behind]` : "";
        const upstream = one.upstream ? ` -> ${one.upstream}${distance}` : "";
        return `${one.current ? "* " : "  "}${one.name} ${short(one.hash)}${upstream} ${one.subject}`;
      });
      return { body: lines.join("\n") || "no branches" };
    },
    async run({ op, name, ref, force, repo, limit }, ctx) {
      const { repository } = openRepository(workspace, undefined, repo, ctx);
      if (op === "list") {
        const { whole, from, more } = await openStoredRows(ctx, workspace.blobs, () =>
          listBranches(repository),
        );
        if (from + limit < whole.length) more(from + limit);
        return { branches: whole.slice(from, from + limit) };
      }
      if (name === undefined) throw invalidArgument("name", `op: ${op} needs the name of the branch`);
      const hash =
        op === "create"
          ? await createBranch(repository, name, ref)
          : await deleteBranch(repository, name, force);
      return { name, hash };
    },
  });
