import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { PROTECTED } from "../edits/protected-paths.ts";
import { isWithin, type Path, toNative } from "../path.ts";
import { type Mount, read, write } from "./mount.ts";
import { lstatOf } from "./tree.ts";

const GIT = ".git";
const NAMES = PROTECTED.flatMap(({ names }) => names).filter((name) => name !== GIT);
/** Where git takes programs to run from. */
const GIT_PROGRAMS = ["hooks", "config", "config.worktree", "modules"];

/**
 * The protected entries at the top of a root that are there, not to be written. Asked once, before anything runs: an entry
 * that a command made could be swapped by it while a launcher binds it, and cannot be protected from its maker anyway.
 */
export const listProtected = (root: Path): Mount[] => [
  ...NAMES.map((name) => join(root, name))
    .filter(isRealEntry)
    .map((path) => read(path)),
  ...gitMounts(root),
];

/** Still what it was: a link in its place, or nothing, is not bound. */
export const isInPlace = (mount: Mount): boolean => !("source" in mount) || isRealEntry(mount.source);

function isRealEntry(path: Path): boolean {
  const found = lstatOf(path);
  return found !== undefined && (found.isFile() || found.isDirectory());
}

/** Git itself goes on working: objects, refs and the index stay writable. */
function gitMounts(root: Path): Mount[] {
  const path = join(root, GIT);
  const found = lstatOf(path);
  if (found?.isDirectory()) return repositoryMounts(path);
  if (!found?.isFile()) return [];
  const common = commonFolderOf(path);
  return common === undefined ? [read(path)] : [...repositoryMounts(common), read(path)];
}

function repositoryMounts(folder: Path): Mount[] {
  if (!lstatOf(join(folder, "HEAD"))) return [read(folder)];
  makeHooks(folder);
  const programs = GIT_PROGRAMS.map((name) => join(folder, name)).filter(isRealEntry);
  // Bound on itself first: a mount can be neither moved away nor replaced, a plain folder can.
  return [write(folder), ...programs.map((program) => read(program))];
}

/** Git makes this folder too; where it is missing, a command could make it, with hooks that the person's git would run. */
function makeHooks(folder: Path): void {
  try {
    mkdirSync(toNative(join(folder, "hooks")));
  } catch {
    // It is there, or nobody can make it.
  }
}

/** The repository that a linked worktree belongs to, if that one says the same: anybody can write a `.git` file. */
function commonFolderOf(gitFile: Path): Path | undefined {
  try {
    const entry = readPath(gitFile, /^gitdir: (.+)$/m);
    const common = readPath(join(entry, "commondir"), /^(.+)$/m);
    const back = readPath(join(entry, "gitdir"), /^(.+)$/m);
    const belongs = back === realpathSync(gitFile) && isWithin(join(common, "worktrees"), entry);
    return belongs ? common : undefined;
  } catch {
    return undefined;
  }
}

function readPath(file: Path, form: RegExp): Path {
  const [, path = ""] = form.exec(readFileSync(toNative(file), "utf8")) ?? [];
  return realpathSync(isAbsolute(path) ? path : join(dirname(file), path));
}
