import type { Confinement } from "../confinement.ts";
import { hashOf } from "../hashes.ts";
import { patchFailed } from "../patch/change.ts";
import { isWithin, pathToUri } from "../path.ts";
import { kindAt, namesIn, readEntry } from "./existing-entry.ts";
import type { ExistingFile } from "./existing-file.ts";
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
  const uri = pathToUri(asked);
  if (!folder) throw patchFailed(`${uri} is not a folder, but the patch changes a submodule there`, { uri });
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
