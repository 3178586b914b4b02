import { ToolError } from "@octant/core";
import type { Path } from "../path.ts";
import { type Edits, type FileChange, type Hunk, malformed, patchFailed, tooLarge } from "./change.ts";
import { BINARY_BYTES, MAX_BINARY_BYTES, parseBinaryBlock, skipBinaryBlock } from "./git-binary.ts";
import {
  type GitHeader,
  isGitHeader,
  isNamePair,
  type NamePair,
  parseGitHeader,
  parseNamePair,
} from "./parse-git-header.ts";
import { isHunkHeader, type Parsed, parseHunkBody, parseHunkHeader, SIGNATURE } from "./parse-hunk.ts";

/** Parses a unified diff, plain or from git, of any number of files. Text before the first file is ignored. */
export function parseUnified(lines: readonly string[], target: Path | undefined): FileChange[] {
  const changes: FileChange[] = [];
  let binaryBytes = 0;
  let inProse = true;
  for (let at = 0; at < lines.length; ) {
    const file = parseFile(lines, at, changes.length === 0 ? target : undefined);
    if (file) {
      changes.push(file.value);
      const { edits } = file.value;
      binaryBytes += edits.form === "binary" ? edits.data.length + edits.resultBytes : 0;
      if (binaryBytes > MAX_BINARY_BYTES) throw tooLarge(MAX_BINARY_BYTES, binaryBytes, BINARY_BYTES);
      at = file.next;
      inProse = false;
      continue;
    }
    if (!inProse && !BETWEEN_FILES.test(lines[at]!)) {
      throw malformed(
        at,
        "this belongs to no hunk; a hunk starts with @@, its lines with a space, '-' or '+'",
      );
    }
    inProse ||= STARTS_PROSE.test(lines[at]!);
    at++;
  }
  if (changes.length > 0) return changes;
  throw patchFailed("this is not a patch: no '--- ' and '+++ ' lines, no '@@' hunk, no '*** Begin Patch'");
}

/** Lines that mail and other programs insert between the files of a patch. */
const BETWEEN_FILES = /^(\s*$|-- ?\r?$|From [0-9a-f]{40}|Index: |={3,}|diff |Only in )/;
const STARTS_PROSE = /^(-- ?\r?$|From [0-9a-f]{40})/;

function parseFile(
  lines: readonly string[],
  at: number,
  target: Path | undefined,
): Parsed<FileChange> | undefined {
  if (isGitHeader(lines[at]!)) return parseGitFile(lines, at);
  if (isNamePair(lines, at)) return parsePlainFile(lines, at);
  if (!isHunkHeader(lines[at]!)) return undefined;
  if (target === undefined) {
    throw malformed(at, "which file? Put '--- ' and '+++ ' lines before it, or give the call a uri");
  }
  const { value: hunks, next } = parseHunks(lines, at);
  return { value: { kind: "update", path: target, edits: { form: "hunks", hunks } }, next };
}

function parsePlainFile(lines: readonly string[], at: number): Parsed<FileChange> {
  const { value: hunks, next } = parseHunks(lines, at + 2);
  if (hunks.length === 0) throw malformed(at, "no hunk follows; a hunk starts with @@");
  return { value: toChange(parseNamePair(lines, at), { form: "hunks", hunks }, at), next };
}

function parseGitFile(lines: readonly string[], at: number): Parsed<FileChange> {
  const { value: header, next } = parseGitHeader(lines, at);
  const body = parseGitBody(lines, next, header);
  const names = { ...header, ...body.value.names };
  return { value: toChange(names, body.value.edits, at), next: body.next };
}

function parseGitBody(
  lines: readonly string[],
  at: number,
  { oldId }: GitHeader,
): Parsed<{ readonly edits: Edits; readonly names?: NamePair }> {
  const line = lines[at] ?? "";
  if (/^GIT binary patch\s*$/.test(line)) {
    const forward = parseBinaryBlock(lines, at + 1);
    const next = skipBinaryBlock(lines, forward.next + 1) ?? forward.next;
    return { value: { edits: { form: "binary", ...forward.value, oldId } }, next };
  }
  if (/^Binary files .* differ\s*$/.test(line)) {
    throw malformed(at, "the patch does not hold the binary content; make it with git diff --binary");
  }
  if (!isNamePair(lines, at)) return { value: { edits: { form: "hunks", hunks: [] } }, next: at };
  const { value: hunks, next } = parseHunks(lines, at + 2);
  return { value: { edits: { form: "hunks", hunks }, names: parseNamePair(lines, at) }, next };
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

function parseHunks(lines: readonly string[], start: number): Parsed<Hunk[]> {
  if (lines[start]?.startsWith("@@@")) throw mergeDiff();
  const hunks: Hunk[] = [];
  let at = start;
  while (at < lines.length && isHunkHeader(lines[at]!)) {
    const { value, next } = parseHunkBody(lines, at + 1, parseHunkHeader(lines[at]!), isHunkEnd);
    hunks.push(value);
    at = next;
    let after = at;
    while (lines[after]?.trim() === "") after++;
    if (isHunkHeader(lines[after] ?? "")) at = after;
  }
  return { value: hunks, next: at };
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

function mergeDiff() {
  const what = "the diff of a merge";
  const how = "make a diff against one parent";
  return new ToolError("UNSUPPORTED", `the patch holds ${what}; ${how}`, { what, how });
}
