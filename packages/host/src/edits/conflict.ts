import { Hash, ToolError } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import { applyChange } from "../patch/apply.ts";
import type { FileChange } from "../patch/change.ts";
import { unifiedDiff } from "../patch/unified-diff.ts";
import { type Path, pathToUri } from "../path.ts";
import type { ExistingFile } from "./read-before.ts";

/** Above this size a diff says less than reading the file again. */
const MAX_SHOWN_CHARS = 16 * 1024;

interface StaleFile {
  readonly file: ExistingFile;
  /** As a patch names it. */
  readonly name: Path;
  readonly expected: Hash;
  /** The one change of the patch; absent when the patch has several, because then it cannot be rebased alone. */
  readonly change?: FileChange;
}

/** Refuses an edit made against another state of the file, with everything needed to redo it. */
export function conflict(blobs: Blobs, { file, name, expected, change }: StaleFile): ToolError {
  const uri = pathToUri(file.path);
  const base = Hash.safeParse(expected).success && blobs.has(expected) ? blobs.get(expected) : undefined;
  const diff = base && shown(unifiedDiff({ path: name, before: base, after: file.bytes }));
  const rebased_patch = change && shown(rebase(file.bytes, name, change));
  const next = rebased_patch
    ? "send rebased_patch with base_hash = actual, or read it again"
    : "read it again and make a new patch";
  return new ToolError("CONFLICT", `${uri} has changed since base_hash; nothing was written; ${next}`, {
    uri,
    expected,
    actual: file.hash,
    ...(diff && { diff }),
    ...(rebased_patch && { rebased_patch }),
  });
}

const shown = (diff: string | undefined) => (diff && diff.length <= MAX_SHOWN_CHARS ? diff : undefined);

/** The same edit rebased onto other bytes as a new patch; undefined when its position is ambiguous. */
function rebase(bytes: Buffer, name: Path, change: FileChange): string | undefined {
  if (change.kind !== "update" || change.newPath !== undefined || !isFoundByContent(change)) return undefined;
  try {
    const { after, match } = applyChange(bytes, change);
    return match === "exact" ? unifiedDiff({ path: name, before: bytes, after }) : undefined;
  } catch (cause) {
    if (cause instanceof ToolError) return undefined;
    throw cause;
  }
}

/** An edit with only a line number would hit whatever is there now. */
function isFoundByContent({ edits }: FileChange): boolean {
  if (edits.form === "binary") return false;
  if (edits.form === "structured") return edits.edits.every(({ op }) => op === "replace");
  return edits.hunks.every(({ lines }) => lines.some(({ op }) => op !== "+"));
}
