import { closeSync, constants, fdatasyncSync, linkSync, openSync, rmSync } from "node:fs";
import { copyFile, readFile } from "node:fs/promises";
import { type Ref, ToolError, type Uri } from "@octant/core";
import { type Confinement, splitPath } from "../confinement.ts";
import type { Edits } from "../edits/edits.ts";
import { findFree } from "../edits/new-place.ts";
import { MAX_EDIT_BYTES } from "../edits/read-before.ts";
import { newTempName } from "../edits/temp-name.ts";
import { errnoOf } from "../errno.ts";
import { type Path, pathToUri } from "../path.ts";
import { syncFolder } from "../sync-folder.ts";
import { toToolError } from "../system-error.ts";
import { noteCopy } from "./copy-notes.ts";

export interface Place {
  readonly confinement: Confinement;
  readonly edits: Edits;
  /** Where unfinished files are stored. */
  readonly folder: string;
}

/** Refuses a place that is taken, protected or outside, before anything is fetched for it. */
export const checkFree = ({ confinement }: Place, output: Uri): void =>
  void findFree(confinement, confinement.toPath(output));

/** Moves a finished file into the workspace. Files that fit go through the edit engine and can be undone. */
export async function placeFile(
  place: Place,
  file: { readonly path: string; readonly size: number },
  output: Uri,
  signal: AbortSignal,
): Promise<{ uri: Uri; undo: Ref | null }> {
  if (file.size <= MAX_EDIT_BYTES) {
    const { uri, undo } = await place.edits.create(output, await readFile(file.path), signal);
    return { uri, undo };
  }
  const { path } = findFree(place.confinement, place.confinement.toPath(output));
  const uri = pathToUri(path);
  try {
    await placeBig(place, file.path, path);
  } catch (cause) {
    throw toToolError(cause, uri);
  }
  return { uri, undo: null };
}

/** A second name where both are on one disk; else a copy beside the target, which takes its name when it is whole. */
async function placeBig({ confinement, folder: notes }: Place, from: string, path: Path): Promise<void> {
  const { parent, name } = splitPath(path);
  using folder = confinement.makeFolder(parent);
  if (folder.path !== parent) throw moved(parent);
  const target = folder.at(name);
  try {
    linkSync(from, target);
  } catch (cause) {
    if (errnoOf(cause) !== "EXDEV" && errnoOf(cause) !== "EPERM") throw cause;
    const tempName = newTempName();
    const temp = folder.at(tempName);
    using _note = noteCopy(notes, `${parent}/${tempName}`);
    try {
      await copyFile(from, temp, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      syncFile(temp);
      linkSync(temp, target);
    } finally {
      rmSync(temp, { force: true });
    }
  }
  syncFolder(folder.at("."));
}

function syncFile(path: string | Buffer): void {
  const fd = openSync(path, "r");
  try {
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

const moved = (parent: string) =>
  new ToolError("NOT_FOUND", `${pathToUri(parent)} was moved during the download; try again`, {
    uri: pathToUri(parent),
  });
