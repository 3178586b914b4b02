import type { Confinement } from "../confinement.ts";
import { hashOf } from "../hashes.ts";
import type { EntryType, FileChange } from "../patch/change.ts";
import { isWithin, type Path, pathToUri } from "../path.ts";
import { entryError } from "../system-error.ts";
import type { Wanted } from "./file-step.ts";
import { findFree } from "./new-place.ts";
import type { States } from "./patched-states.ts";
import type { FileReport, Part } from "./plan-patch.ts";
import { checkWritable } from "./protected-paths.ts";
import { type ExistingFile, kindAt, namesIn, readEntry } from "./read-before.ts";

type Named = Omit<Part, "source">;

/**
 * The folder of a submodule that a patch deletes or renames; undefined when it stays. As with `git apply`, it is removed only
 * while empty, and its contents never move along.
 */
export function readSubmodule(
  confinement: Confinement,
  { change, asked, made }: Named,
  all: readonly Named[],
): ExistingFile | undefined {
  checkWritable(confinement.roots, asked);
  const folder = readEntry(confinement, "directory", asked);
  if (!folder)
    throw entryError("PATCH_FAILED", asked, "is not a folder, but the patch changes a submodule there");
  const goes = change.kind === "delete" || (made !== undefined && made !== asked);
  const isUsed =
    all.some((other) => other.made?.startsWith(`${asked}/`)) ||
    confinement.roots.some((root) => isWithin(asked, root));
  return goes && !isUsed && namesIn(confinement, folder.path).length === 0 ? folder : undefined;
}

/** The commit of a submodule is in git's index only; among the files it is a folder. */
export function planSubmodule(
  confinement: Confinement,
  { change, asked, made, source }: Part,
  states: States,
): FileReport {
  const report = { hash: null, match: "exact", hunks: [], kind: "submodule" } as const;
  const uri = pathToUri(made ?? asked);
  if (made === undefined)
    return { uri, ...report, ...(change.kind === "delete" && source && { deleted: true }) };
  checkWritable(confinement.roots, made);
  const isThere = kindAt(confinement, made) === "directory" && !states.isMovedAway(made);
  if (!isThere) {
    const place = findFree(confinement, made, states.isMovedAway);
    states.put(place.path, EMPTY_FOLDER, place.missing);
  }
  return {
    uri,
    ...report,
    ...(!isThere && { created: true }),
    ...(change.kind === "update" && { renamed_from: pathToUri(asked) }),
  };
}

const EMPTY_FOLDER: Wanted = { kind: "directory", bytes: Buffer.alloc(0), hash: hashOf(Buffer.alloc(0)) };

/** The kind of entry a change is about. A pure rename does not name it, so the current entry decides. */
export function typeOf(confinement: Confinement, change: FileChange, path: Path): EntryType {
  if (change.type !== undefined) return change.type;
  const { edits } = change;
  const isBare = edits.form === "hunks" && edits.hunks.length === 0;
  if (change.kind !== "update" || change.newPath === undefined || !isBare) return "file";
  const kind = kindAt(confinement, path);
  if (kind === "symlink") return "link";
  if (kind !== "directory") return "file";
  // A submodule that was checked out has its repository, and one that was not is empty.
  const names = namesIn(confinement, path);
  return names.length === 0 || names.includes(".git") ? "submodule" : "file";
}
