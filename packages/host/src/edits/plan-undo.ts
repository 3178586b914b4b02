import { ToolError } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import { type Path, pathToUri } from "../path.ts";
import { conflict } from "./conflict.ts";
import { type ExistingFile, readExisting } from "./existing-file.ts";
import type { Change } from "./file-step.ts";
import { findFree } from "./new-place.ts";
import { type FileReport, nameInPatch, type Plan } from "./plan-patch.ts";
import { checkWritable } from "./protected-paths.ts";
import type { FileEntry } from "./undo.ts";

/** What an undo record would do. It carries what it expects, and anything else there is a conflict. */
export function planUndo(confinement: Confinement, blobs: Blobs, entries: readonly FileEntry[]): Plan {
  const changes: Change[] = [];
  const folders: Path[] = [];
  const reports: FileReport[] = [];
  for (const { uri, before: wanted, after: expected } of entries) {
    const asked = confinement.toPath(uri);
    const after = wanted && { bytes: blobs.get(wanted.hash), ...wanted };
    const report = { hash: wanted?.hash ?? null, match: "exact" as const, hunks: [] };
    if (!expected) {
      const { path, missing } = findFree(confinement, asked);
      folders.push(...missing.filter((folder) => !folders.includes(folder)));
      changes.push({ path, before: null, after });
      reports.push({ uri: pathToUri(path), ...report, created: true });
      continue;
    }
    const file = readExisting(confinement, asked);
    checkSamePlace(file, asked);
    checkWritable(confinement.roots, file.path);
    if (file.hash !== expected.hash)
      throw conflict(blobs, {
        file,
        name: nameInPatch(confinement, file.path),
        expected: expected.hash,
      });
    changes.push({ path: file.path, before: file, after });
    reports.push({ uri, ...report, ...(wanted ? {} : { deleted: true }) });
  }
  return { changes, folders, reports };
}

/** The record has real paths. Where a link stands there now, it is no longer the file that was edited. */
function checkSamePlace(file: ExistingFile, asked: Path): void {
  if (file.path === asked) return;
  const uri = pathToUri(asked);
  throw new ToolError("NOT_A_FILE", `${uri} has become a link since; nothing was changed`, {
    uri,
    kind: "symlink",
  });
}
