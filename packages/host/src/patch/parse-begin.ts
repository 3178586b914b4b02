import type { Path } from "../path.ts";
import { type FileChange, type Hunk, malformed } from "./change.ts";
import {
  type HunkHeader,
  isHunkHeader,
  type PatchLines,
  parseHunkBody,
  parseHunkHeader,
} from "./parse-hunk.ts";

/** Parses the `*** Begin Patch` form from that line on. */
export function parseBeginPatch(patch: PatchLines): FileChange[] {
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
