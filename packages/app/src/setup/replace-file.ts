import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { ToolError } from "@octant/core";
import { errnoOf } from "@octant/host";

export interface Replaced {
  /** The copy of the previous file; absent when there was none. */
  readonly backup?: string;
  /** Returns false when the file has changed meanwhile and was left alone. */
  undo(): boolean;
}

/**
 * Replaces `before` (undefined: no file) by `after` atomically and durably. A symlink stays a symlink; mode
 * and owner are preserved.
 */
export function replaceFile(path: string, before: Buffer | undefined, after: Buffer): Replaced {
  const file = followLinks(path);
  const madeFrom = mkdirSync(dirname(file), { recursive: true });
  const old = before && statSync(file);
  const backup = before && old && writeBackup(path, before, old);
  const tidy = () => {
    if (backup !== undefined) rmSync(backup);
    if (madeFrom !== undefined) removeEmpty(dirname(file), madeFrom);
  };
  try {
    swapIn(file, before, after, old);
  } catch (cause) {
    tidy();
    throw cause;
  }
  const undo = () => {
    if (!isStill(file, after)) return false;
    if (before) swapIn(file, after, before, old);
    else rmSync(file);
    tidy();
    return true;
  };
  return { ...(backup !== undefined && { backup }), undo };
}

/** undefined when the file does not exist. */
export function loadFile(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}

/** Resolves symlinks, including a last one that dangles. */
export function followLinks(path: string): string {
  let at = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    if (!lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) break;
    at = resolve(dirname(at), readlinkSync(at));
  }
  return join(realFolder(dirname(at)), basename(at));
}

const MAX_LINKS = 40;
/** The file may contain secrets of other servers, so only its owner may read the copy. */
const BACKUP_MODE = 0o600;

/** Resolves the existing part of the path. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    const parent = dirname(folder);
    return parent === folder ? folder : join(realFolder(parent), basename(folder));
  }
}

/** Next to the path that the client knows, with a timestamp, never overwriting another backup. */
function writeBackup(path: string, content: Buffer, { mode }: Stats): string {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
  for (let count = 1; ; count++) {
    const backup = `${path}.octant-${time}${count > 1 ? `-${count}` : ""}.bak`;
    try {
      writeFileSync(backup, content, { flag: "wx", mode: mode & BACKUP_MODE, flush: true });
      return backup;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause; // fs throws ErrnoException.
    }
  }
}

function swapIn(file: string, before: Buffer | undefined, after: Buffer, old: Stats | undefined): void {
  const temporary = `${file}.octant-${randomBytes(6).toString("hex")}.tmp`;
  try {
    const handle = openSync(temporary, "wx", old ? BACKUP_MODE : NEW_MODE);
    try {
      writeFileSync(handle, after);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    if (old) copyRights(temporary, old);
    if (!isStill(file, before))
      throw new ToolError("CONFLICT", `${file} was changed by another program just now; run setup again`, {
        expected: "the file as it was read",
        actual: "another one",
      });
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Before the person's umask. */
const NEW_MODE = 0o666;

function copyRights(path: string, { uid, gid, mode }: Stats): void {
  const made = statSync(path);
  if (made.uid !== uid || made.gid !== gid) chownSync(path, uid, gid);
  chmodSync(path, mode);
}

function isStill(file: string, content: Buffer | undefined): boolean {
  const now = loadFile(file);
  return content === undefined || now === undefined ? now === content : now.equals(content);
}

/** Removes empty folders from the innermost out to `last`. */
function removeEmpty(folder: string, last: string): void {
  try {
    rmdirSync(folder);
  } catch {
    return;
  }
  if (folder !== last) removeEmpty(dirname(folder), last);
}
