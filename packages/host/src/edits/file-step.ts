import type { Stats } from "node:fs";
import { type Hash, ToolError } from "@octant/core";
import type { PinnedFolder } from "../confinement.ts";
import { errnoOf } from "../errno.ts";
import { hashOf } from "../hashes.ts";
import { type Path, pathToUri } from "../path.ts";
import type { ChangedKind } from "./changed-kind.ts";
import {
  type Disk,
  makeFolder,
  NEW_FILE,
  openExisting,
  openFile,
  overwrite,
  syncContent,
  writeContent,
} from "./disk.ts";
import type { Step } from "./journal.ts";
import { canOwnLike, mustStayInPlace } from "./ownership.ts";
import { newTempName } from "./temp-name.ts";

/** The entry found at a path. */
export interface Existing {
  readonly kind: ChangedKind;
  /** A file's content, a link's target, nothing for a folder. */
  readonly bytes: Buffer;
  readonly hash: Hash;
  /** From before the bytes were read. */
  readonly stat: Stats;
}

/** The desired entry at a path. */
export interface Wanted {
  readonly kind: ChangedKind;
  readonly bytes: Buffer;
  readonly hash: Hash;
  /** Permission bits. Without them a file keeps its own, and a new one follows the umask. */
  readonly mode?: number;
  /** For a new file: the one whose owner and mode it takes over. */
  readonly like?: Stats;
  /** For a new file: whether it is a program. */
  readonly executable?: boolean;
}

/**
 * The change of one real path from its current entry to the desired one; null means no entry. Both are of one kind:
 * changing the kind takes two changes, a removal and a creation.
 */
export interface Change {
  readonly path: Path;
  readonly before: Existing | null;
  readonly after: Wanted | null;
}

export const kindOfChange = ({ before, after }: Change): ChangedKind => (before ?? after)!.kind;

/** A change, the names that the journal has for it, and the open folder where it happens. */
export interface Work {
  readonly change: Change;
  readonly step: Step;
  readonly folder: PinnedFolder;
  readonly target: string | Buffer;
  /** The target's stat as long as no other process changes it. */
  expected: Stats | undefined;
}

export function toStep(change: Change, isSet: boolean): Step {
  const { path, before, after } = change;
  const kind = kindOfChange(change);
  const how = !before ? "create" : !after ? "remove" : mustStayInPlace(change) ? "overwrite" : "replace";
  // Links and folders are created atomically.
  const needsTemp = how === "create" ? kind === "file" : how !== "overwrite" && kind !== "directory";
  return {
    target: path,
    kind,
    how,
    before: before?.hash ?? null,
    mode: before ? before.stat.mode & 0o7777 : null,
    after: after?.hash ?? null,
    temp: needsTemp ? newTempName() : null,
    // Content that is overwritten is preserved as a blob: the folder may take no other file.
    backup: isSet && (how === "replace" || how === "remove") && kind !== "directory" ? newTempName() : null,
  };
}

/** Writes the new content beside the target. */
export async function writeTemp(disk: Disk, { change, step, folder }: Work): Promise<void> {
  const { before, after } = change;
  if (step.temp === null || !after) return;
  if (after.kind === "symlink") return disk.symlinkSync(after.bytes, folder.at(step.temp));
  await writeNew(disk, folder.at(step.temp), { ...after, like: before?.stat ?? after.like });
}

/** Hard-links the entry that is about to be replaced. */
export async function preserveOld(disk: Disk, work: Work): Promise<void> {
  const { change, step, folder, target } = work;
  if (step.backup === null || !change.before || step.how === "remove") return;
  const backup = folder.at(step.backup);
  checkUntouched(disk, work);
  // Not every system can hard-link a symbolic link: some link its target instead.
  if (step.kind === "symlink") return writeOld(disk, backup, change.before);
  try {
    disk.linkSync(target, backup);
  } catch (cause) {
    if (!hasNoLinks(cause)) throw cause;
    return writeOld(disk, backup, change.before);
  }
  // Adding the second name changed the ctime of the inode.
  const now = disk.lstatSync(target);
  if (!isUntouched(change.before.stat, now, "but for ctime")) throw touched(disk, work);
  work.expected = now;
}

/** Performs the prepared step; `onOverwrite` is called before the first byte of the target changes in place. */
export async function perform(
  disk: Disk,
  work: Work,
  isSet: boolean,
  onOverwrite: () => void,
): Promise<void> {
  const { change, step, folder, target } = work;
  if (step.how === "create") return create(disk, work, isSet);
  checkUntouched(disk, work);
  if (step.how === "replace") return disk.renameSync(folder.at(step.temp!), target);
  if (step.how === "overwrite") {
    const { bytes, mode } = change.after!;
    using file = openExisting(disk, target, work.expected!);
    if (!file) throw touched(disk, work);
    onOverwrite();
    return await overwrite(disk, file.fd, { bytes, mode });
  }
  if (step.backup === null) return discard(disk, target, step.kind);
  disk.renameSync(target, folder.at(step.backup));
}

function create(disk: Disk, { change: { after }, step, folder, target }: Work, isSet: boolean): void {
  if (step.kind === "symlink") disk.symlinkSync(after!.bytes, target);
  else if (step.kind === "directory") makeFolder(disk, target, after!.mode);
  else placeNew(disk, folder.at(step.temp!), target, isSet);
}

const discard = (disk: Disk, target: string | Buffer, kind: ChangedKind): void =>
  kind === "directory" ? disk.rmdirSync(target) : disk.unlinkSync(target);

/** Undoes a single step that was performed but could not be made durable. */
export async function putBack(disk: Disk, { change: { before }, step, folder, target }: Work): Promise<void> {
  if (!before) return discard(disk, target, step.kind);
  if (step.kind === "directory") return makeFolder(disk, target, step.mode ?? undefined);
  const temp = folder.at(step.temp!);
  await writeOld(disk, temp, before);
  disk.renameSync(temp, target);
}

/** Creates a missing file; an existing one is left unchanged. */
function placeNew(disk: Disk, temp: string | Buffer, target: string | Buffer, isSet: boolean): void {
  try {
    disk.linkSync(temp, target);
    // In a set the temporary name stays until the commit, so that a rollback recognises the file as ours.
    if (!isSet) disk.unlinkSync(temp);
  } catch (cause) {
    if (!hasNoLinks(cause)) throw cause;
    // Creating the name first excludes others; a crash here leaves an empty file on such file systems.
    disk.closeSync(disk.openSync(target, NEW_FILE));
    try {
      disk.renameSync(temp, target);
    } catch (failure) {
      disk.unlinkSync(target);
      throw failure;
    }
  }
}

const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];
const hasNoLinks = (cause: unknown): boolean => NO_LINKS.includes(errnoOf(cause) ?? "");

/** Writes a new file with the owner of another one, and with its mode unless another one is given. */
async function writeNew(
  disk: Disk,
  path: string | Buffer,
  { bytes, like, executable, mode = like?.mode }: Pick<Wanted, "bytes" | "like" | "executable" | "mode">,
): Promise<void> {
  // Before the umask.
  const initial = like ? 0o600 : executable ? 0o777 : 0o666;
  using file = openFile(disk, path, NEW_FILE, initial);
  await writeContent(disk, file.fd, bytes);
  // The mode last: writing and a new owner take set-id bits away.
  if (like && isForeign(like) && canOwnLike(like)) disk.fchownSync(file.fd, like.uid, like.gid);
  if (mode !== undefined) disk.fchmodSync(file.fd, mode & 0o7777);
  await syncContent(disk, file.fd, bytes.length);
}

/** Writes the old content under another name, for as long as it may be needed. */
async function writeOld(disk: Disk, path: string | Buffer, { kind, bytes, stat }: Existing): Promise<void> {
  if (kind === "symlink") return disk.symlinkSync(bytes, path);
  await writeNew(disk, path, { bytes, like: stat });
}

const isForeign = ({ uid, gid }: Stats): boolean =>
  uid !== process.geteuid?.() || gid !== process.getegid?.();

function checkUntouched(disk: Disk, work: Work): void {
  const now = disk.lstatSync(work.target);
  if (work.expected && !isUntouched(work.expected, now)) throw touched(disk, work);
}

const isUntouched = (then: Stats, now: Stats, except?: "but for ctime"): boolean =>
  then.dev === now.dev &&
  then.ino === now.ino &&
  then.size === now.size &&
  then.mtimeMs === now.mtimeMs &&
  (except !== undefined || then.ctimeMs === now.ctimeMs);

function touched(disk: Disk, { change, target }: Work): ToolError {
  const uri = pathToUri(change.path);
  const message = `${uri} was changed by another program during the edit; nothing was written: read it and try again`;
  const now = disk.lstatSync(target);
  const actual = now.isFile() ? hashOf(disk.readFileSync(target)) : "not a file";
  return new ToolError("CONFLICT", message, { uri, expected: change.before?.hash ?? "none", actual });
}
