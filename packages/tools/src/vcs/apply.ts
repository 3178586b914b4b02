import { action, Hash, ofKind, Ref, Uri } from "@octant/core";
import { type ApplyTo, applyPatch } from "@octant/host";
import { z } from "zod";
import { APPLY, PATH_ERRORS } from "../kinds.ts";
import { openRepository, Repo, Staged, type VcsWorkspace } from "./workspace.ts";

export const apply = (workspace: VcsWorkspace) =>
  action({
    summary: "Apply a git patch atomically to the files, the index, or both.",
    ...APPLY,
    destructive: true,
    input: z.strictObject({
      patch: ofKind("patch", z.string().min(1)).describe("From vcs.diff, or its ref"),
      index: z.boolean().default(false).describe("Stage it too"),
      staged: Staged,
      repo: Repo,
    }),
    output: z.object({
      files: z.array(
        z.object({
          uri: Uri,
          hash: Hash.nullable().describe("null: the file was removed"),
          match: z.enum(["exact", "whitespace"]),
          created: z.literal(true).optional(),
          deleted: z.literal(true).optional(),
          renamed_from: Uri.optional(),
        }),
      ),
      links: z.array(Uri).readonly().describe("Symbolic links that were changed"),
      submodules: z.array(Uri).readonly().describe("Changed in the index only"),
      undo: Ref.nullable().describe("Pass as `patch` to fs.apply_patch to undo"),
      staged: z.boolean(),
    }),
    errors: [
      "NOT_A_REPOSITORY",
      "PATCH_FAILED",
      "CONFLICT",
      "NOT_FOUND",
      "ALREADY_EXISTS",
      "NOT_A_FILE",
      ...PATH_ERRORS,
      "UNSUPPORTED",
      "TOO_LARGE",
      "LOCKED",
      "NO_SPACE",
      "VCS_ERROR",
    ],
    examples: [
      {
        title: "Change and stage",
        input: {
          patch:
            "diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n@@ -1,3 +1,3 @@\n-# Demo\n+# Example\n \n A small project.\n",
          index: true,
        },
      },
    ],
    async run({ patch, index, staged, repo }, ctx) {
      const to: ApplyTo = staged ? "index" : index ? "both" : "files";
      const { repository } = openRepository(workspace, undefined, repo, ctx);
      const done = await applyPatch(repository, { workspace, patch, to });
      return { ...done, staged: to !== "files" };
    },
  });
