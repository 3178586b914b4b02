import type { Stats } from "node:fs";
import { attempt } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import { type Confinement, kindOf, type PinnedFolder, splitPath } from "../confinement.ts";
import { errnoOf } from "../errno.ts";
import { hashOf } from "../hashes.ts";
import type { Path } from "../path.ts";
import { hasCode } from "../system-error.ts";
import { type Disk, makeFolder, openExisting, overwrite } from "./disk.ts";
import type { Intention, Pending, Step } from "./journal.ts";
import { isProtected } from "./protected-paths.ts";

/** A step that could not be taken back or cleaned up. */
export interface Failure {
  readonly step: Step;
  readonly cause: unknown;
}

/**
 * Rolls back a partial change. It relies only on the disk and the blobs, so it works after a failure and after a crash,
 * and is idempotent. A file that another program has written meanwhile is left alone, and a failure hinders no other.
 */
export async function rollBack(
  { confinement, disk, blobs }: RollbackParts,
  { intention, begun }: Pick<Pending, "intention" | "begun">,
): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (const [i, step] of [...intention.steps.entries()].toReversed()) {
    try {
      using folder = openParent(confinement, step.target);
      if (!folder) continue;
      if (begun.has(i)) await restore(disk, folder, step, blobs);
      revert(disk, folder, step, intention.isSet);
      removeTemporaries(disk, folder, step);
    } catch (cause) {
      failures.push({ step, cause });
    }
  }
  // One that cannot be removed is empty and does no harm.
  attempt(() => removeEmptyFolders(confinement, disk, intention.folders));
  return failures;
}

export interface RollbackParts {
  readonly confinement: Confinement;
  readonly disk: Disk;
  readonly blobs: Pick<Blobs, "get">;
}

/** Removes the temporary files of a finished change. */
export function sweep({ confinement, disk }: RollbackParts, { steps }: Intention): Failure[] {
  return steps.flatMap((step) => {
    try {
      using folder = openParent(confinement, step.target);
      if (folder) removeTemporaries(disk, folder, step);
      return [];
    } catch (cause) {
      return [{ step, cause }];
    }
  });
}

/** Removes the folders as long as nothing is in them; innermost first. */
export function removeEmptyFolders(confinement: Confinement, disk: Disk, folders: readonly Path[]): void {
  for (const path of folders.toReversed()) removeIfEmpty(confinement, disk, path);
}

/** Whether the folder was there and empty, and is removed now. */
export function removeIfEmpty(confinement: Confinement, disk: Disk, path: Path): boolean {
  using parent = openParent(confinement, path);
  return parent !== undefined && tryRemove(disk, parent.at(splitPath(path).name));
}

function tryRemove(disk: Disk, path: string | Buffer): boolean {
  try {
    disk.rmdirSync(path);
    return true;
  } catch (cause) {
    if (!LEFT_ALONE.includes(errnoOf(cause) ?? "")) throw cause;
    return false;
  }
}

const LEFT_ALONE = ["ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR"];

/** The target's folder; undefined when it no longer exists or is outside the workspace. */
function openParent(confinement: Confinement, target: Path): PinnedFolder | undefined {
  if (isProtected(confinement.roots, target)) return undefined;
  const { parent } = splitPath(target);
  try {
    const folder = confinement.openFolder(parent);
    if (folder.path === parent) return folder;
    folder[Symbol.dispose]();
    return undefined;
  } catch (cause) {
    if (hasCode(cause, "NOT_FOUND", "NOT_A_DIRECTORY", "OUTSIDE_WORKSPACE")) return undefined;
    throw cause;
  }
}

function revert(disk: Disk, folder: PinnedFolder, step: Step, isSet: boolean): void {
  const target = folder.at(splitPath(step.target).name);
  const now = statOf(disk, target);
  if (now && kindOf(now) !== step.kind) return;
  if (step.kind === "directory") {
    // An empty folder needs no backup: another one is as good.
    if (isSet && step.how === "create" && now) tryRemove(disk, target);
    if (isSet && step.how === "remove" && !now) makeFolder(disk, target, step.mode ?? undefined);
    return;
  }
  const temp = step.temp === null ? undefined : statOf(disk, folder.at(step.temp));
  // A linked file is known by its inode. Where links are not supported the new file has taken the target's place.
  if (
    step.how === "create" &&
    now &&
    (temp ? isSame(now, temp) : isSet && hashAt(disk, target, step) === step.after)
  )
    disk.unlinkSync(target);

  if (step.backup === null) return;
  const backup = folder.at(step.backup);
  const kept = statOf(disk, backup);
  if (!kept || kindOf(kept) !== step.kind) return;
  if (step.how === "remove" && !now) disk.renameSync(backup, target);
  if (step.how === "replace" && now && !isSame(now, kept) && hashAt(disk, target, step) === step.after)
    disk.renameSync(backup, target);
}

/** Gives a file that was being overwritten its old content again. */
async function restore(disk: Disk, folder: PinnedFolder, step: Step, blobs: RollbackParts["blobs"]) {
  const target = folder.at(splitPath(step.target).name);
  const now = statOf(disk, target);
  if (!now?.isFile() || step.before === null) return;
  using file = openExisting(disk, target, now);
  if (file) await overwrite(disk, file.fd, { bytes: blobs.get(step.before), mode: step.mode ?? undefined });
}

function removeTemporaries(disk: Disk, folder: PinnedFolder, { temp, backup }: Step): void {
  for (const name of [temp, backup]) {
    if (name !== null) disk.rmSync(folder.at(name), { recursive: true, force: true });
  }
}

const isSame = (a: Stats, b: Stats): boolean => a.dev === b.dev && a.ino === b.ino;

const hashAt = (disk: Disk, path: string | Buffer, { kind }: Step) =>
  hashOf(kind === "symlink" ? disk.readlinkSync(path, { encoding: "buffer" }) : disk.readFileSync(path));

function statOf(disk: Disk, path: string | Buffer): Stats | undefined {
  try {
    return disk.lstatSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    // A name that this file system cannot have is not there.
    if (errnoOf(cause) === "ENAMETOOLONG") return undefined;
    throw cause;
  }
}
