import { lstatSync, readlinkSync, symlinkSync, unlinkSync } from "node:fs";
import { ToolError } from "@octant/core";
import { type Confinement, splitPath } from "../confinement.ts";
import { findFree, findPlace } from "../edits/new-place.ts";
import { checkWritable } from "../edits/protected-paths.ts";
import { patchFailed } from "../patch/change.ts";
import { fromNative, type Path, pathToUri, toNative } from "../path.ts";
import { toToolError } from "../system-error.ts";

/** Removes a link that leads where the patch says; returns how it led and what brings it back. */
export function removeLink(confinement: Confinement, path: Path, target: Path | null) {
  checkWritable(confinement.roots, path);
  const { parent, name } = splitPath(path);
  using folder = confinement.openFolder(parent);
  const found = readLink(folder.at(name));
  const uri = pathToUri(path);
  if (found === undefined || (target !== null && found !== target))
    throw patchFailed(`${uri} is not the link that the patch changes`, { uri });
  unlinkSync(folder.at(name));
  return { target: found, undo: () => putLink(confinement, path, found) };
}

/** Makes a link that leads nowhere outside; returns what takes it away again. */
export function makeLink(confinement: Confinement, path: Path, target: Path): () => void {
  const place = findFree(confinement, path);
  checkTarget(confinement, place.path, target);
  putLink(confinement, place.path, target);
  return () => void removeLink(confinement, place.path, target);
}

function putLink(confinement: Confinement, path: Path, target: Path): void {
  const { parent, name } = splitPath(path);
  using folder = confinement.makeFolder(parent);
  try {
    symlinkSync(toNative(target), folder.at(name));
  } catch (cause) {
    throw toToolError(cause, pathToUri(path));
  }
}

/** Where a link at `path` would lead must be in the workspace, and not where nobody may write. */
export function checkTarget(confinement: Confinement, path: Path, target: Path): void {
  if (target === "" || target.includes("\0")) throw patchFailed("the patch has a link that leads nowhere");
  // Behind a name, `..` need not lead back to where the name is.
  if (/[^/.][^/]*\/(.*\/)?\.\.(\/|$)/.test(target))
    throw patchFailed(`the link ${pathToUri(path)} would lead through '..'; write where it leads without`);
  const leads = confinement.toPath(
    pathToUri(target.startsWith("/") ? target : `${splitPath(path).parent}/${target}`),
  );
  checkWritable(confinement.roots, leads, findPlace(confinement, leads).path);
  try {
    using place = openAny(confinement, leads);
    checkWritable(confinement.roots, place.path);
  } catch (cause) {
    // A link may lead to what is not there yet.
    if (!(cause instanceof ToolError && cause.code === "NOT_FOUND")) throw cause;
  }
}

function openAny(confinement: Confinement, path: Path) {
  try {
    return confinement.openFolder(path);
  } catch (cause) {
    if (!(cause instanceof ToolError && cause.code === "NOT_A_DIRECTORY")) throw cause;
    return confinement.openFile(path);
  }
}

function readLink(path: string | Buffer): Path | undefined {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
  return fromNative(readlinkSync(path, { encoding: "buffer" }));
}
