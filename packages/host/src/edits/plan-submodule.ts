import type { Confinement } from "../confinement.ts";
import { hashOf } from "../hashes.ts";
import type { EntryType, FileChange } from "../patch/index.ts";
import { isWithin, type Path, pathToUri } from "../path.ts";
import { entryError } from "../system-error.ts";
import { type ExistingFile, kindAt, namesIn, readEntry } from "./existing-file.ts";
import type { Wanted } from "./file-step.ts";
import { findFree } from "./new-place.ts";
import type { States } from "./patched-states.ts";
import type { FileReport, Part } from "./plan-patch.ts";
import { checkWritable } from "./protected-paths.ts";

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
    all.some((other) => other.made !== undefined && isBelow(asked, other.made)) ||
    confinement.roots.some((root) => isWithin(asked, root));
  return goes && !isUsed && namesIn(confinement, folder.path).length === 0 ? folder : undefined;
}

const isBelow = (folder: string, path: string) => path !== folder && isWithin(folder, path);

/** Which commit it is at is in git's index only; among the files a submodule is a folder. */
export function planSubmodule(
  confinement: Confinement,
  { change, asked, made, source }: Part,
  states: States,
): FileReport {
  const report = { hash: null, match: "exact", hunks: [], kind: "submodule" } as const;
  if (made === undefined)
    return {
      uri: pathToUri(asked),
      ...report,
      ...(change.kind === "delete" && source && { deleted: true as const }),
    };
  checkWritable(confinement.roots, made);
  const isThere = kindAt(confinement, made) === "directory" && !states.isMovedAway(made);
  if (!isThere) {
    const place = findFree(confinement, made, states.isMovedAway);
    states.put(place.path, EMPTY_FOLDER, place.missing);
  }
  return {
    uri: pathToUri(made),
    ...report,
    ...(!isThere && { created: true }),
    ...(change.kind === "update" && { renamed_from: pathToUri(asked) }),
  };
}

const EMPTY_FOLDER: Wanted = { kind: "directory", bytes: Buffer.alloc(0), hash: hashOf(Buffer.alloc(0)) };

/** The kind of entry a change is about. A pure rename does not name it, so the current entry decides. */
export function typeOf(confinement: Confinement, change: FileChange, path: Path): EntryType {
  if (change.type !== undefined) return change.type;
  if (!isBareRename(change)) return "file";
  const kind = kindAt(confinement, path);
  if (kind === "directory" && looksLikeSubmodule(confinement, path)) return "submodule";
  return kind === "symlink" ? "link" : "file";
}

const isBareRename = ({ edits, ...change }: FileChange): boolean =>
  change.kind === "update" &&
  change.newPath !== undefined &&
  edits.form === "hunks" &&
  edits.hunks.length === 0;

/** One that was checked out has its repository, and one that was not is empty. */
function looksLikeSubmodule(confinement: Confinement, path: Path): boolean {
  const names = namesIn(confinement, path);
  return names.length === 0 || names.includes(".git");
}
