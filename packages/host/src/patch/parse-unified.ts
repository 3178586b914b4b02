import { ToolError } from "@octant/core";
import type { Path } from "../path.ts";
import { type Edits, type FileChange, type Hunk, malformed, patchFailed, tooLarge } from "./change.ts";
import { BINARY_BYTES, MAX_BINARY_BYTES, parseBinaryBlock, skipReverseBlock } from "./git-binary.ts";
import {
  type GitHeader,
  isGitHeader,
  isNamePair,
  type NamePair,
  parseGitHeader,
  parseNamePair,
} from "./parse-git-header.ts";
import { isHunkHeader, type PatchLines, parseHunkBody, parseHunkHeader, SIGNATURE } from "./parse-hunk.ts";

/** Parses a unified diff, plain or from git, of any number of files. Text before the first file is ignored. */
export function parseUnified(patch: PatchLines, target: Path | undefined): FileChange[] {
  const changes: FileChange[] = [];
  let binaryBytes = 0;
  let inProse = true;
  while (!patch.isDone) {
    const change = parseFile(patch, changes.length === 0 ? target : undefined);
    if (change) {
      changes.push(change);
      const { edits } = change;
      binaryBytes += edits.form === "binary" ? edits.data.length + edits.resultBytes : 0;
      if (binaryBytes > MAX_BINARY_BYTES) throw tooLarge(MAX_BINARY_BYTES, binaryBytes, BINARY_BYTES);
      inProse = false;
      continue;
    }
    if (!inProse && !BETWEEN_FILES.test(patch.line)) {
      throw malformed(
        patch.at,
        "this belongs to no hunk; a hunk starts with @@, its lines with a space, '-' or '+'",
      );
    }
    inProse ||= STARTS_PROSE.test(patch.line);
    patch.at++;
  }
  if (changes.length > 0) return changes;
  throw patchFailed("this is not a patch: no '--- ' and '+++ ' lines, no '@@' hunk, no '*** Begin Patch'");
}

/** Lines that mail and other programs insert between the files of a patch. */
const BETWEEN_FILES = /^(\s*$|-- ?\r?$|From [0-9a-f]{40}|Index: |={3,}|diff |Only in )/;
const STARTS_PROSE = /^(-- ?\r?$|From [0-9a-f]{40})/;

function parseFile(patch: PatchLines, target: Path | undefined): FileChange | undefined {
  const { lines, at } = patch;
  if (isGitHeader(patch.line)) {
    const header = parseGitHeader(patch);
    const { edits, names } = parseGitBody(patch, header);
    return toChange({ ...header, ...names }, edits, at);
  }
  if (isNamePair(lines, at)) {
    patch.at += 2;
    const hunks = parseHunks(patch);
    if (hunks.length === 0) throw malformed(at, "no hunk follows; a hunk starts with @@");
    return toChange(parseNamePair(lines, at), { form: "hunks", hunks }, at);
  }
  if (!isHunkHeader(patch.line)) return undefined;
  if (target === undefined)
    throw malformed(at, "which file? Put '--- ' and '+++ ' lines before it, or give the call a uri");
  return { kind: "update", path: target, edits: { form: "hunks", hunks: parseHunks(patch) } };
}

function parseGitBody(patch: PatchLines, { oldId }: GitHeader): { edits: Edits; names?: NamePair } {
  const { lines, at } = patch;
  if (/^GIT binary patch\s*$/.test(patch.line)) {
    patch.at++;
    const edit = parseBinaryBlock(patch);
    skipReverseBlock(patch);
    return { edits: { form: "binary", ...edit, oldId } };
  }
  if (/^Binary files .* differ\s*$/.test(patch.line))
    throw malformed(at, "the patch does not hold the binary content; make it with git diff --binary");
  if (!isNamePair(lines, at)) return { edits: { form: "hunks", hunks: [] } };
  patch.at += 2;
  return { edits: { form: "hunks", hunks: parseHunks(patch) }, names: parseNamePair(lines, at) };
}

function toChange(header: GitHeader, edits: Edits, at: number): FileChange {
  const { from, to, type, mode, copy } = header;
  const old = from ?? header.old;
  const made = to ?? header.new;
  const creates = header.kind === "create" || (header.kind === undefined && old === undefined);
  if (creates && made !== undefined) return { kind: "create", path: made, type, mode, edits };
  const deletes = header.kind === "delete" || (header.kind === undefined && made === undefined);
  if (deletes && old !== undefined) return { kind: "delete", path: old, type, edits };
  if (old === undefined || made === undefined) throw malformed(at, "the file name cannot be determined");
  if (old === made) return { kind: "update", path: old, type, mode, edits };
  if (from !== undefined)
    return { kind: "update", path: old, newPath: made, ...(copy && { copy }), type, mode, edits };
  throw malformed(
    at,
    "the two names differ; a rename needs 'diff --git', 'rename from' and 'rename to' lines",
  );
}

function parseHunks(patch: PatchLines): Hunk[] {
  if (patch.line.startsWith("@@@")) {
    const [what, how] = ["the diff of a merge", "make a diff against one parent"];
    throw new ToolError("UNSUPPORTED", `the patch holds ${what}; ${how}`, { what, how });
  }
  const hunks: Hunk[] = [];
  while (isHunkHeader(patch.line)) {
    const header = parseHunkHeader(patch.line);
    patch.at++;
    hunks.push(parseHunkBody(patch, header, isHunkEnd));
    const { at } = patch;
    patch.skipEmpty();
    if (!isHunkHeader(patch.line)) patch.at = at;
  }
  return hunks;
}

/** The two dashes, git's version, an empty line. */
const SIGNATURE_LINES = 3;

/** Where a hunk with a wrong count ends: a new hunk, a new file, or the signature of a mail. */
const isHunkEnd = (lines: readonly string[], at: number) =>
  isHunkHeader(lines[at]!) ||
  isGitHeader(lines[at]!) ||
  (isNamePair(lines, at) && isHunkHeader(lines[at + 2] ?? "")) ||
  (SIGNATURE.test(lines[at]!) && at >= lines.length - SIGNATURE_LINES) ||
  /^(Index: |From [0-9a-f]{40}|diff |Only in )/.test(lines[at]!);
