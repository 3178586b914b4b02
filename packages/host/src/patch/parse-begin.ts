import type { Path } from "../path.ts";
import { type FileChange, type Hunk, malformed } from "./change.ts";
import { type HunkHeader, isHunkHeader, type Parsed, parseHunkBody, parseHunkHeader } from "./parse-hunk.ts";

/** Parses the `*** Begin Patch` form; `begin` is the number of that line. */
export function parseBeginPatch(lines: readonly string[], begin: number): FileChange[] {
  const changes: FileChange[] = [];
  let at = skipEmpty(lines, begin + 1);
  while (at < lines.length && lines[at]!.trimEnd() !== "*** End Patch") {
    const { value, next } = parseSection(lines, at);
    changes.push(value);
    at = skipEmpty(lines, next);
  }
  if (at === lines.length)
    throw malformed(at - 1, "'*** End Patch' is missing; the patch may have been cut off");
  const rest = skipEmpty(lines, at + 1);
  if (rest < lines.length) throw malformed(rest, "nothing may follow '*** End Patch'");
  if (changes.length === 0) throw malformed(at, "the patch changes no file");
  return changes;
}

function skipEmpty(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length && lines[at]!.trim() === "") at++;
  return at;
}

function parseSection(lines: readonly string[], at: number): Parsed<FileChange> {
  const section = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(lines[at]!.trimEnd());
  if (!section)
    throw malformed(
      at,
      "expected '*** Add File: ', '*** Update File: ', '*** Delete File: ' or '*** End Patch'",
    );
  const path = section[2]!.trim();
  if (section[1] === "Add") return parseAdd(lines, at + 1, path);
  if (section[1] === "Update") return parseUpdate(lines, at + 1, path);
  return { value: { kind: "delete", path, edits: { form: "hunks", hunks: [] } }, next: at + 1 };
}

const isMark = (lines: readonly string[], at: number) => lines[at]!.startsWith("***");
const isBodyEnd = (lines: readonly string[], at: number) => isMark(lines, at) || isHunkHeader(lines[at]!);

function parseAdd(lines: readonly string[], start: number, path: Path): Parsed<FileChange> {
  let next = start;
  while (next < lines.length && !isMark(lines, next)) next++;
  const wrong = lines.slice(start, next).findIndex((line) => line.trim() !== "" && !line.startsWith("+"));
  if (wrong >= 0) throw malformed(start + wrong, "every line of an added file starts with '+'");
  const hunks = next > start && skipEmpty(lines, start) < next ? [addedLines(lines, start)] : [];
  return { value: { kind: "create", path, edits: { form: "hunks", hunks } }, next };
}

const addedLines = (lines: readonly string[], start: number): Hunk =>
  parseHunkBody(lines, start, { anchors: [] }, isMark).value;

function parseUpdate(lines: readonly string[], start: number, path: Path): Parsed<FileChange> {
  const newPath = /^\*\*\* Move to: (.+)$/.exec(lines[start]?.trimEnd() ?? "")?.[1]?.trim();
  const hunks: Hunk[] = [];
  let at = newPath === undefined ? start : start + 1;
  while (at < lines.length && (hunks.length === 0 || isHunkHeader(lines[at]!)) && !isMark(lines, at)) {
    const header = parseHeaders(lines, at);
    const body = parseHunkBody(lines, header.next, header.value, isBodyEnd);
    at = skipEmpty(lines, body.next);
    const atEnd = lines[at]?.trimEnd() === "*** End of File";
    hunks.push({ ...body.value, atEnd });
    if (atEnd) at = skipEmpty(lines, at + 1);
  }
  if (hunks.length === 0 && newPath === undefined) throw malformed(start - 1, "the update has no hunks");
  const moved = newPath === path ? undefined : newPath;
  return { value: { kind: "update", path, newPath: moved, edits: { form: "hunks", hunks } }, next: at };
}

/** Consecutive headers narrow the position down, outermost first. The first hunk may have none. */
function parseHeaders(lines: readonly string[], start: number): Parsed<HunkHeader> {
  let value: HunkHeader = { anchors: [] };
  let next = start;
  for (; next < lines.length && isHunkHeader(lines[next]!); next++) {
    const header = parseHunkHeader(lines[next]!);
    value = { ...value, ...header, anchors: [...value.anchors, ...header.anchors] };
  }
  return { value, next };
}
