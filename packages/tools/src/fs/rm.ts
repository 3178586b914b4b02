import { action, type Context, counted, ofKind, type QuestionBody, Ref, ToolError, Uri } from "@octant/core";
import type { Edits } from "@octant/host";
import { z } from "zod";
import { APPLY, DISK_ERRORS, EditNote, PATH_ERRORS } from "../kinds.ts";

export const rm = ({ edits }: { edits: Edits }) =>
  action({
    summary: "Remove a file or folder; the undo ref restores it.",
    ...APPLY,
    unaskedIn: "edits",
    destructive: true,
    input: z.strictObject({
      uri: ofKind("tree", Uri),
      confirm: z
        .boolean()
        .default(false)
        .describe("Must be true to delete; otherwise lists what would be removed"),
      recursive: z.boolean().default(false).describe("Remove a folder with its contents"),
    }),
    output: z.object({
      uri: Uri,
      removed: z.int().describe("Files, links and folders"),
      undo: Ref.describe("As `patch` of apply_patch it brings everything back"),
      note: EditNote,
    }),
    errors: [
      "CONFIRM_REQUIRED",
      "NOT_FOUND",
      "NOT_A_DIRECTORY",
      ...PATH_ERRORS,
      "CONFLICT",
      "TOO_LARGE",
      "UNSUPPORTED",
      ...DISK_ERRORS,
    ],
    examples: [
      { title: "List what would be removed", input: { uri: "src" }, fails: "CONFIRM_REQUIRED" },
      { title: "Remove a file", input: { uri: "README.md", confirm: true } },
      { title: "Remove a folder", input: { uri: "src", confirm: true, recursive: true } },
    ],
    text: ({ uri, removed, undo }, { path }) => ({
      body: `removed ${path(uri)} (${counted(removed, "entry", "entries")})`,
      handles: { undo },
    }),
    async run({ uri, confirm, recursive }, ctx) {
      try {
        return await edits.remove(uri, { confirm, recursive }, ctx.signal);
      } catch (cause) {
        if (!(cause instanceof ToolError) || cause.code !== "CONFIRM_REQUIRED") throw cause;
        await letPersonConfirm(uri, cause, ctx);
        // The person has seen its contents.
        return edits.remove(uri, { confirm: true, recursive: true }, ctx.signal);
      }
    },
  });

/** Throws the original refusal when nobody can be asked. */
async function letPersonConfirm(uri: string, refusal: ToolError, ctx: Context): Promise<void> {
  const { answer } = await ctx.ask(toQuestion(uri, refusal));
  if (answer === "unattended") throw refusal;
  if (answer === "accept") return;
  const reason = answer === "decline" ? "the person said no" : "the form was closed";
  throw new ToolError("PERMISSION_DENIED", `nothing was removed: ${reason}`, { by: "person", reason });
}

const Would = z.object({ would: z.object({ count: z.int(), bytes: z.int(), uris: z.array(z.string()) }) });

function toQuestion(uri: string, { details }: ToolError): QuestionBody {
  const { count, bytes, uris } = Would.parse(details).would;
  const more = count > uris.length ? [`and ${count - uris.length} more`] : [];
  return {
    kind: "confirmation",
    message: [
      `Remove ${uri}? ${count} ${count === 1 ? "entry goes" : "entries go"} (${bytes} bytes); it can be undone.`,
      ...uris,
      ...more,
    ].join("\n"),
    yes: "Remove",
  };
}
