import { ToolError } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import { type Path, pathToUri } from "../path.ts";
import { conflict } from "./conflict.ts";
import { namesIn, readEntry } from "./existing-entry.ts";
import { type ExistingFile, readExisting } from "./existing-file.ts";
import type { Change } from "./file-step.ts";
import { findFree } from "./new-place.ts";
import { type FileReport, nameInPatch, type Plan } from "./plan-patch.ts";
import { checkWritable } from "./protected-paths.ts";
import type { FileEntry } from "./undo.ts";

/** Plans an undo record. It contains the expected state; any other state is a conflict. */
export function planUndo(confinement: Confinement, blobs: Blobs, entries: readonly FileEntry[]): Plan {
  const changes: Change[] = [];
  const folders: Path[] = [];
  const reports: FileReport[] = [];
  const isFreed = (path: Path) => changes.some((change) => change.path === path && !change.after);
  // In reverse order: an entry that changed kind was removed before it was created.
  for (const { uri, kind, before: wanted, after: expected } of entries.toReversed()) {
    const asked = confinement.toPath(uri);
    const after = wanted && { kind, bytes: blobs.get(wanted.hash), ...wanted };
    const report = {
      hash: kind === "directory" ? null : (wanted?.hash ?? null),
      match: "exact" as const,
      hunks: [],
      ...(kind !== "file" && { kind: kind === "symlink" ? kind : ("submodule" as const) }),
    };
    if (!expected) {
      const { path, missing } = findFree(confinement, asked, isFreed);
      folders.push(...missing.filter((folder) => !folders.includes(folder)));
      changes.push({ path, before: null, after });
      reports.push({ uri: pathToUri(path), ...report, created: true });
      continue;
    }
    const file = kind === "file" ? readExisting(confinement, asked) : readUnchanged(confinement, kind, asked);
    checkSamePlace(file, asked);
    checkWritable(confinement.roots, file.path);
    if (file.hash !== expected.hash) {
      if (kind !== "file") throw changed(asked, expected.hash, file.hash);
      throw conflict(blobs, {
        file,
        name: nameInPatch(confinement, file.path),
        expected: expected.hash,
      });
    }
    changes.push({ path: file.path, before: file, after });
    reports.push({ uri, ...report, ...(wanted ? {} : { deleted: true }) });
  }
  return { changes, folders, reports };
}

/** The link, or the folder that is still empty. */
function readUnchanged(confinement: Confinement, kind: "symlink" | "directory", asked: Path): ExistingFile {
  const entry = readEntry(confinement, kind, asked);
  if (!entry) throw changed(asked, kind, "something else");
  if (kind === "directory" && namesIn(confinement, entry.path).length > 0)
    throw changed(asked, "an empty folder", "a folder that is not empty");
  return entry;
}

/** Where a link leads is not shown, since that may be outside the workspace. */
function changed(path: Path, expected: string, actual: string): ToolError {
  const uri = pathToUri(path);
  return new ToolError("CONFLICT", `${uri} has changed since; nothing was undone`, {
    uri,
    expected,
    actual,
  });
}

/** The record has real paths. If a path is a link now, it is no longer the file that was edited. */
function checkSamePlace(file: ExistingFile, asked: Path): void {
  if (file.path === asked) return;
  const uri = pathToUri(asked);
  throw new ToolError("NOT_A_FILE", `${uri} has become a link since; nothing was changed`, {
    uri,
    kind: "symlink",
  });
}
