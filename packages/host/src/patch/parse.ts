import { invalidArgument } from "@octant/core";
import type { Path } from "../path.ts";
import { type FileChange, malformed, patchFailed, type StructuredEdit, tooLarge } from "./change.ts";
import { parseBeginPatch } from "./parse-begin.ts";
import { PatchLines } from "./parse-hunk.ts";
import { parseUnified } from "./parse-unified.ts";

export const MAX_PATCH_BYTES = 16 * 1024 * 1024;
export const MAX_FILES = 1_000;
const MAX_EDITS = 1_000;

/**
 * Parses a patch in any of its three forms: a unified diff, `*** Begin Patch`, or structured edits. `target` is the
 * file for structured edits and hunks without file names.
 */
export function parsePatch(patch: string | readonly StructuredEdit[], target?: Path): FileChange[] {
  const text = typeof patch === "string" ? patch : patch.flatMap(textsOf).join("");
  const size = Buffer.byteLength(text);
  if (size > MAX_PATCH_BYTES) throw tooLarge(MAX_PATCH_BYTES, size, "bytes");
  if (!text.isWellFormed())
    throw patchFailed("the patch is not valid Unicode: it holds half of a surrogate pair");
  const changes = typeof patch === "string" ? parseText(patch, target) : [toUpdate(patch, target)];
  if (changes.length > MAX_FILES) throw tooLarge(MAX_FILES, changes.length, "files");
  checkPaths(changes);
  return changes;
}

function textsOf(edit: StructuredEdit): string[] {
  if (edit.op === "replace") return [edit.old, edit.new];
  return edit.op === "insert" ? [edit.text] : [];
}

function parseText(text: string, target: Path | undefined): FileChange[] {
  const lines = text.replace(/^\ufeff/, "").split("\n");
  if (lines.at(-1) === "") lines.pop();
  const patch = new PatchLines(lines);
  patch.skipEmpty();
  if (patch.isDone) throw patchFailed("the patch is empty");
  if (patch.line.startsWith("```"))
    throw malformed(patch.at, "take the Markdown fence off; the patch starts with its own first line");
  return patch.line.trimEnd() === "*** Begin Patch" ? parseBeginPatch(patch) : parseUnified(patch, target);
}

function toUpdate(edits: readonly StructuredEdit[], target: Path | undefined): FileChange {
  if (edits.length === 0) throw patchFailed("the list of edits is empty");
  if (edits.length > MAX_EDITS) throw tooLarge(MAX_EDITS, edits.length, "edits");
  if (target !== undefined) return { kind: "update", path: target, edits: { form: "structured", edits } };
  throw invalidArgument("uri", "structured edits need the file that they edit");
}

/** Each file may be changed once and created once, so that the order of the parts does not matter. */
function checkPaths(changes: readonly FileChange[]): void {
  const changed = new Set<Path>();
  const made = new Set<Path>();
  const note = (paths: Set<Path>, path: Path) => {
    if (path === "" || path.includes("\0"))
      throw patchFailed("the patch has a file name that is empty or holds NUL");
    if (paths.has(path))
      throw patchFailed(`the patch has '${path}' twice; put all its hunks under one header`);
    paths.add(path);
  };
  for (const change of changes) {
    if (change.kind === "delete" || (change.kind === "update" && !change.copy)) note(changed, change.path);
    if (change.kind === "create") note(made, change.path);
    if (change.kind === "update") note(made, change.newPath ?? change.path);
  }
}
