import { action, counted } from "@octant/core";
import { readStatus, switchTo } from "@octant/host";
import { z } from "zod";
import { APPLY_SHORT } from "../kinds.ts";
import { Head } from "./status.ts";
import { GitRef, openRepository, Repo, short, type VcsWorkspace } from "./workspace.ts";

export const checkout = (workspace: VcsWorkspace) =>
  action({
    summary: "Switch to a branch or commit; refused if uncommitted changes would be lost.",
    ...APPLY_SHORT,
    destructive: true,
    input: z.strictObject({
      ref: GitRef,
      create: z.boolean().default(false).describe("Create the branch at HEAD"),
      force: z.boolean().default(false).describe("Discard changes that would be lost"),
      repo: Repo,
    }),
    output: z.object({ ...Head, changes: z.int().describe("Files whose uncommitted changes were kept") }),
    errors: [
      "NOT_A_REPOSITORY",
      "NOT_FOUND",
      "ALREADY_EXISTS",
      "CONFIRM_REQUIRED",
      "OUTSIDE_WORKSPACE",
      "VCS_ERROR",
    ],
    examples: [{ title: "A new branch", input: { ref: "feature", create: true } }],
    text({ branch, head, changes }) {
      const kept = changes > 0 ? `, ${counted(changes, "changed file")} carried along` : "";
      return { body: `${branch === null ? "detached" : `on ${branch}`} at ${short(head)}${kept}` };
    },
    async run({ ref, create, force, repo }, ctx) {
      const { repository } = openRepository(workspace, undefined, repo, ctx);
      await switchTo(repository, { ref, create, force });
      const { branch, head, entries } = await readStatus(repository);
      return { branch, head, changes: entries.filter(({ kind }) => kind !== "untracked").length };
    },
  });
