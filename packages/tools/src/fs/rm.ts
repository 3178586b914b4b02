import { action, Ref, Uri } from "@octant/core";
import type { Edits } from "@octant/host";
import { z } from "zod";

export const rm = ({ edits }: { edits: Edits }) =>
  action({
    summary: "Remove a file or folder; what is removed can be brought back with the undo ref.",
    access: "write",
    timing: "sync",
    intent: "apply",
    destructive: true,
    input: z.strictObject({
      uri: Uri,
      confirm: z.boolean().default(false).describe("Else it only says what would go"),
      recursive: z.boolean().default(false).describe("A folder with all in it"),
    }),
    output: z.object({
      uri: Uri,
      removed: z.int().describe("Files, links and folders"),
      undo: Ref.describe("As `patch` of apply_patch it brings everything back"),
    }),
    errors: [
      "CONFIRM_REQUIRED",
      "NOT_FOUND",
      "NOT_A_DIRECTORY",
      "OUTSIDE_WORKSPACE",
      "PROTECTED_PATH",
      "ACCESS_DENIED",
      "CONFLICT",
      "TOO_LARGE",
      "UNSUPPORTED",
      "LOCKED",
      "NO_SPACE",
      "IO_ERROR",
    ],
    examples: [
      { title: "What would go?", input: { uri: "src" }, fails: "CONFIRM_REQUIRED" },
      { title: "Remove a file", input: { uri: "README.md", confirm: true } },
      { title: "Remove a folder", input: { uri: "src", confirm: true, recursive: true } },
    ],
    run: ({ uri, confirm, recursive }, { signal }) => edits.remove(uri, { confirm, recursive }, signal),
  });
