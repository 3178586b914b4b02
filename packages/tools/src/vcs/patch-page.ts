import {
  type ActionText,
  ANSWER_BYTES,
  type Context,
  counted,
  MAX_ANSWER_BYTES,
  pagingInput,
  type Reader,
  Ref,
  ToolError,
  Uri,
} from "@octant/core";
import { type Blobs, type FileDiff, toRef } from "@octant/host";
import { z } from "zod";
import { openStoredRows } from "../stored-rows.ts";

export const patchInput = {
  max_bytes: z.int().min(1).max(MAX_ANSWER_BYTES).default(ANSWER_BYTES),
  ...pagingInput(200, 1_000),
};

export const FileStat = z.object({
  uri: Uri,
  change: z.enum(["added", "modified", "deleted", "renamed", "copied", "type_changed", "conflict"]),
  renamed_from: Uri.optional(),
  added: z.int().nullable().describe("Lines; null: not text"),
  removed: z.int().nullable(),
  old_mode: z.string().optional().describe("When the mode changes"),
  new_mode: z.string().optional(),
  ref: Ref.optional().describe("Its patch, when it alone exceeds the budget"),
});

export const PatchPage = {
  files: z.array(FileStat),
  patch: z.string().describe("Patch of the files on this page, for vcs.apply or fs.apply_patch"),
  ref: Ref.optional().describe("The whole patch, when it does not fit"),
  file_count: z.int(),
  added: z.int().describe("Total lines"),
  removed: z.int(),
  left_out: z
    .array(Uri)
    .optional()
    .describe("Present when a permission rule hides changed files, which it does not name"),
};

interface Options {
  readonly ctx: Context;
  readonly blobs: Blobs;
  readonly limit: number;
  readonly max_bytes: number;
}

/** A page of whole files, as many as the budget holds. */
export async function toPatchPage(options: Options, make: () => Promise<readonly FileDiff[]>) {
  const { ctx, blobs, limit, max_bytes } = options;
  const { whole, from, more } = await openStoredRows(ctx, blobs, async () =>
    toWhole(leaveOut(ctx, await make()), options),
  );
  const files: z.output<typeof FileStat>[] = [];
  const parts: string[] = [];
  let left = max_bytes;
  let next = from;
  for (; next < whole.rows.length && files.length < limit; next++) {
    const { stat, patch } = whole.rows[next]!;
    const size = Buffer.byteLength(patch);
    if (size > left && size <= max_bytes && files.length > 0) break;
    const fits = size <= left;
    files.push(fits ? stat : { ...stat, ref: toRef(blobs.put(Buffer.from(patch))) });
    if (fits) parts.push(patch);
    left -= fits ? size : 0;
  }
  if (next < whole.rows.length) more(next);
  return { ...whole, files, patch: parts.join("") };
}

/** The files that the caller may see, and the others; PERMISSION_DENIED when nothing is left. */
function leaveOut(ctx: Context, all: readonly FileDiff[]) {
  const reasons = all.map(({ uri, renamed_from = uri }) => ctx.hides(uri) ?? ctx.hides(renamed_from));
  const reason = reasons.find(Boolean);
  const diffs = all.filter((_, n) => !reasons[n]);
  if (reason && diffs.length === 0) throw hiddenBy(reason);
  return { diffs, hidden: all.filter((_, n) => reasons[n]).map(({ uri }) => uri) };
}

export const hiddenBy = (reason: string) =>
  new ToolError("PERMISSION_DENIED", `a rule hides it: ${reason}`, { by: "permission", reason });

function toWhole({ diffs, hidden }: ReturnType<typeof leaveOut>, { blobs, limit, max_bytes }: Options) {
  const rows = diffs.map(({ parts, ...stat }) => ({ stat, patch: Buffer.concat(parts).toString() }));
  const patch = rows.map((row) => row.patch).join("");
  const fits = Buffer.byteLength(patch) <= max_bytes && rows.length <= limit;
  return {
    rows,
    ref: fits ? undefined : toRef(blobs.put(Buffer.from(patch))),
    ...toTotals(diffs),
    // The dispatcher removes the names and puts the rule into meta.left_out.
    left_out: hidden.length > 0 ? hidden.slice(0, 1) : undefined,
  };
}

export const toTotals = (files: readonly Pick<FileDiff, "added" | "removed">[]) => ({
  file_count: files.length,
  added: files.reduce((sum, { added }) => sum + (added ?? 0), 0),
  removed: files.reduce((sum, { removed }) => sum + (removed ?? 0), 0),
});

/** The patch as git prints it; oversized files are listed with their refs. */
export function patchText(data: z.output<z.ZodObject<typeof PatchPage>>, { path }: Reader): ActionText {
  const { files, patch, ref, file_count, added, removed } = data;
  const apart = files.filter(({ ref: own, added: lines }) => own !== undefined || lines === null);
  const lines = apart.map(
    (file) => `${statLine(file, path)}${file.ref ? `  ref ${file.ref}` : "  (not text)"}`,
  );
  return {
    body: [patch.replace(/\n$/, ""), ...lines].filter(Boolean).join("\n") || "no changes",
    notes: [file_count > 0 && `${counted(file_count, "file")}, +${added} -${removed}`],
    handles: { ref },
  };
}

export function statLine(
  { uri, change, renamed_from, added, removed }: z.output<typeof FileStat>,
  path: Reader["path"],
): string {
  const from = renamed_from === undefined ? "" : ` (from ${path(renamed_from)})`;
  return `${change}: ${path(uri)}${from}${added === null ? "" : `, +${added} -${removed}`}`;
}
