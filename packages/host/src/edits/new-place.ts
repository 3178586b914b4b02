import { lstatSync } from "node:fs";
import { invalidArgument } from "@octant/core";
import { type Confinement, kindOf, splitPath } from "../confinement.ts";
import { type Path, toBytes } from "../path.ts";
import { entryError, hasCode } from "../system-error.ts";
import { checkWritable } from "./protected-paths.ts";
import { MAX_EDIT_BYTES, readExisting } from "./read-before.ts";

/** Where something new will really be, and the folders on the way there that are missing, outermost first. */
export interface NewPlace {
  readonly path: Path;
  readonly missing: readonly Path[];
  /** Whether something is there already. */
  readonly taken: boolean;
}

/** A path where a file can be created: allowed and free; `isFreed` accepts paths that this change removes first. */
export function findFree(
  confinement: Confinement,
  asked: Path,
  isFreed: (path: Path) => boolean = () => false,
): NewPlace {
  checkWritable(confinement.roots, asked);
  const place = findPlace(confinement, asked, isFreed);
  if (place.path !== asked) checkWritable(confinement.roots, place.path);
  if (place.taken && !isFreed(place.path)) checkGone(confinement, place.path);
  return place;
}

/** Where it will be, whether or not something is there. */
export function findPlace(
  confinement: Confinement,
  path: Path,
  isFreed: (path: Path) => boolean = () => false,
): NewPlace {
  const isTooLong = (part: Path, limit: number) => toBytes(part).length > limit;
  if (isTooLong(path, MAX_PATH_BYTES) || path.split("/").some((name) => isTooLong(name, MAX_NAME_BYTES))) {
    const message = `a name has at most ${MAX_NAME_BYTES} bytes and a path ${MAX_PATH_BYTES}; this one is longer`;
    throw invalidArgument("uri", message);
  }
  const place = locate(confinement, path, isFreed);
  confinement.checkDenied(place.path);
  return place;
}

/** The limits of Linux and most of its file systems. */
const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 4095;

function locate(confinement: Confinement, path: Path, isFreed: (path: Path) => boolean): NewPlace {
  const { parent, name } = splitPath(path);
  if (confinement.roots.includes(path)) return { path, missing: [], taken: true };
  try {
    using folder = confinement.openFolder(parent);
    const taken = lstatSync(folder.at(name), { throwIfNoEntry: false }) !== undefined;
    return { path: `${folder.path === "/" ? "" : folder.path}/${name}`, missing: [], taken };
  } catch (cause) {
    const isMissing = hasCode(cause, "NOT_FOUND") || isFreed(parent);
    if (!isMissing || confinement.roots.includes(parent)) throw cause;
  }
  const above = locate(confinement, parent, isFreed);
  return { path: `${above.path}/${name}`, missing: [...above.missing, above.path], taken: false };
}

/** Reports the entry at a path that was taken; returns if it is free by now. */
function checkGone(confinement: Confinement, path: Path): void {
  try {
    using entry = confinement.openEntry(path);
    const kind = kindOf(entry.stat);
    const hash =
      kind === "file" && entry.stat.size <= MAX_EDIT_BYTES ? readExisting(confinement, path).hash : undefined;
    const next = kind === "file" ? "fs.apply_patch can change it, with its base_hash" : `it is a ${kind}`;
    throw entryError("ALREADY_EXISTS", path, `already exists; ${next}`, { ...(hash && { hash }) });
  } catch (cause) {
    if (!hasCode(cause, "NOT_FOUND")) throw cause;
  }
}
