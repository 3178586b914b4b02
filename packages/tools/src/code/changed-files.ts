import {
  type ActionText,
  type Context,
  type ErrorCode,
  Hash,
  PatchId,
  type Reader,
  Ref,
  Uri,
} from "@octant/core";
import { applyWorkspaceEdit } from "@octant/host";
import { z } from "zod";
import { linesWithinBudget } from "../within-budget.ts";
import type { Code } from "./code.ts";
import { POSITION_ERRORS } from "./position-input.ts";

export const EDIT_ERRORS: readonly ErrorCode[] = [
  ...POSITION_ERRORS,
  ...(["UNSUPPORTED", "CONFLICT", "PROTECTED_PATH", "PATCH_FAILED"] as const),
  ...(["LOCKED", "NO_SPACE", "IO_ERROR", "EXEC_FAILED", "UPSTREAM_ERROR"] as const),
];

/** The result of an edit by a language server. */
export const ChangedFiles = z.object({
  patch_id: PatchId.nullable().describe("null when nothing changed"),
  files: z.array(z.object({ uri: Uri, hash: Hash.nullable() })),
  undo: Ref.nullable().describe("Pass as `patch` to fs.apply_patch to undo"),
  patch: z.string().describe("Unified diff"),
  patch_truncated: z.literal(true).optional(),
  note: z.string().optional(),
});

type Proposed = Parameters<typeof applyWorkspaceEdit>[1];
export type ApplyOptions = Parameters<typeof applyWorkspaceEdit>[2];

/** Applies the change through the edit engine, and notifies the servers at once. */
export async function makeChanges(
  { workspace, servers }: Code,
  proposed: Proposed,
  options: ApplyOptions,
  ctx: Pick<Context, "signal">,
): Promise<z.input<typeof ChangedFiles>> {
  const applied = await applyWorkspaceEdit(workspace, proposed, options, ctx.signal);
  if (!applied) return { patch_id: null, files: [], undo: null, patch: "" };
  if (!options.dryRun) servers.changed(applied.files.map(({ uri }) => workspace.confinement.toPath(uri)));
  const { patch_id, files, undo } = applied;
  const patch = linesWithinBudget(applied.patch);
  return {
    patch_id,
    files: files.map(({ uri, hash }) => ({ uri, hash })),
    undo,
    patch,
    ...(patch !== applied.patch && { patch_truncated: true }),
  };
}

/** The patch, then the hash of each changed file. */
export function changesText(
  { files, undo, patch, patch_truncated, patch_id }: z.output<typeof ChangedFiles>,
  { path, backend }: Reader,
): ActionText {
  if (patch_id === null) return { body: "nothing to change" };
  const lines = files.map(({ uri, hash }) =>
    `${path(uri)}  ${undo === null || hash === null ? "" : hash}`.trimEnd(),
  );
  const [title, note] =
    undo === null ? ["Would change:", "dry run, nothing changed"] : ["Changed:", undefined];
  return {
    body: [title, ...lines, patch].join("\n"),
    notes: [note, patch_truncated && "the patch is cut", backend && `by ${backend}`],
    handles: { undo },
  };
}
