import { invalidArgument } from "@octant/core";
import type { Path } from "../path.ts";
import {
  type FileChange,
  type Hunk,
  malformed,
  patchFailed,
  type StructuredEdit,
  tooLarge,
} from "./change.ts";
import { type HunkHeader, isHunkHeader, PatchLines, parseHunkBody, parseHunkHeader } from "./parse-hunk.ts";
import { parseUnified } from "./parse-unified.ts";

export const MAX_PATCH_BYTES = 16 * 1024 * 1024;
/** A parsed line takes hundreds of bytes and a microsecond or two, and nobody else is served meanwhile. */
export const MAX_PATCH_LINES = 100_000;
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
  const lines = countLines(text);
  if (lines > MAX_PATCH_LINES) throw tooLarge(MAX_PATCH_LINES, lines, "lines");
  if (!text.isWellFormed())
    throw patchFailed("the patch is not valid Unicode: it holds half of a surrogate pair");
  const changes = typeof patch === "string" ? parseText(patch, target) : [toUpdate(patch, target)];
  if (changes.length > MAX_FILES) throw tooLarge(MAX_FILES, changes.length, "files");
  checkPaths(changes);
  return changes;
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
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

/** Parses the `*** Begin Patch` form from that line on. */
function parseBeginPatch(patch: PatchLines): FileChange[] {
  const changes: FileChange[] = [];
  patch.at++;
  patch.skipEmpty();
  while (!patch.isDone && patch.line.trimEnd() !== "*** End Patch") {
    changes.push(parseSection(patch));
    patch.skipEmpty();
  }
  const end = patch.at++;
  if (end === patch.lines.length)
    throw malformed(end - 1, "'*** End Patch' is missing; the patch may have been cut off");
  patch.skipEmpty();
  if (!patch.isDone) throw malformed(patch.at, "nothing may follow '*** End Patch'");
  if (changes.length === 0) throw malformed(end, "the patch changes no file");
  return changes;
}

function parseSection(patch: PatchLines): FileChange {
  const section = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(patch.line.trimEnd());
  if (!section)
    throw malformed(
      patch.at,
      "expected '*** Add File: ', '*** Update File: ', '*** Delete File: ' or '*** End Patch'",
    );
  patch.at++;
  const path = section[2]!.trim();
  if (section[1] === "Add") return parseAdd(patch, path);
  if (section[1] === "Update") return parseUpdate(patch, path);
  return { kind: "delete", path, edits: { form: "hunks", hunks: [] } };
}

const isMark = (lines: readonly string[], at: number) => lines[at]!.startsWith("***");
const isBodyEnd = (lines: readonly string[], at: number) => isMark(lines, at) || isHunkHeader(lines[at]!);

function parseAdd(patch: PatchLines, path: Path): FileChange {
  const { lines, at: start } = patch;
  let end = start;
  while (end < lines.length && !isMark(lines, end)) end++;
  const body = lines.slice(start, end);
  const wrong = body.findIndex((line) => line.trim() !== "" && !line.startsWith("+"));
  if (wrong >= 0) throw malformed(start + wrong, "every line of an added file starts with '+'");
  const isEmpty = body.every((line) => line.trim() === "");
  const hunks = isEmpty ? [] : [parseHunkBody(patch, { anchors: [] }, isMark)];
  patch.at = end;
  return { kind: "create", path, edits: { form: "hunks", hunks } };
}

function parseUpdate(patch: PatchLines, path: Path): FileChange {
  const { at: start } = patch;
  const newPath = /^\*\*\* Move to: (.+)$/.exec(patch.line.trimEnd())?.[1]?.trim();
  if (newPath !== undefined) patch.at++;
  const hunks: Hunk[] = [];
  while (!patch.isDone && !patch.line.startsWith("***") && (hunks.length === 0 || isHunkHeader(patch.line))) {
    const hunk = parseHunkBody(patch, parseHeaders(patch), isBodyEnd);
    patch.skipEmpty();
    const atEnd = patch.line.trimEnd() === "*** End of File";
    hunks.push({ ...hunk, atEnd });
    if (!atEnd) continue;
    patch.at++;
    patch.skipEmpty();
  }
  if (hunks.length === 0 && newPath === undefined) throw malformed(start - 1, "the update has no hunks");
  const moved = newPath === path ? undefined : newPath;
  return { kind: "update", path, newPath: moved, edits: { form: "hunks", hunks } };
}

/** Consecutive headers narrow the position down, outermost first. The first hunk may have none. */
function parseHeaders(patch: PatchLines): HunkHeader {
  let all: HunkHeader = { anchors: [] };
  for (; isHunkHeader(patch.line); patch.at++) {
    const header = parseHunkHeader(patch.line);
    all = { ...all, ...header, anchors: [...all.anchors, ...header.anchors] };
  }
  return all;
}
