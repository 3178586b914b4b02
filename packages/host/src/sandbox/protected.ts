import { mkdirSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { attempt } from "@octant/core";
import { PROTECTED } from "../edits/protected-paths.ts";
import { isWithin, type Path, toNative } from "../path.ts";
import { readRegularFile } from "../regular-file.ts";
import { type Bind, read, write } from "./mount.ts";
import { lstatOf } from "./tree.ts";

const GIT = ".git";
/** Entries at the top of a root that commands may not change or create; `.git` is only partly closed. */
export const PROTECTED_NAMES: readonly string[] = PROTECTED.flatMap(({ names }) => names).filter(
  (name) => name !== GIT,
);
const MAX_LINK_BYTES = 64 * 1024;
/** The places that git takes programs from. */
const GIT_PROGRAMS = ["hooks", "config", "config.worktree", "modules"];

/** A mount that is skipped when its source is no longer the entry that was listed. */
export type ProtectedMount = Bind & { readonly identity: string };

/**
 * The existing protected entries at the top of a root, as read-only mounts. List them only while no command runs: a
 * running one could swap its own entry between the listing and the mount.
 */
export const listProtected = (root: Path): ProtectedMount[] =>
  protectedBinds(root).map((mount) => ({ ...mount, identity: identityOf(mount.source) }));

const protectedBinds = (root: Path): Bind[] => [
  ...PROTECTED_NAMES.map((name) => join(root, name))
    .filter(isRealEntry)
    .map((path) => read(path)),
  ...gitMounts(root),
];

/** An editor replaces files, so a file may be another one. A folder that is writable inside must be the listed one. */
export const isInPlace = ({ kind, source, identity }: ProtectedMount): boolean =>
  isRealEntry(source) && (kind === "read" || identityOf(source) === identity);

/** Distinguishes an entry from another one at the same path. */
export function identityOf(path: Path): string {
  const found = lstatOf(path);
  return found ? `${found.dev}:${found.ino}` : "";
}

function isRealEntry(path: Path): boolean {
  const found = lstatOf(path);
  return found !== undefined && (found.isFile() || found.isDirectory());
}

/** Git still works: objects, refs and the index stay writable. */
function gitMounts(root: Path): Bind[] {
  const path = join(root, GIT);
  const found = lstatOf(path);
  if (found?.isDirectory()) return repositoryMounts(path);
  if (!found?.isFile()) return [];
  const common = commonFolderOf(path);
  return common === undefined ? [read(path)] : [...repositoryMounts(common), read(path)];
}

function repositoryMounts(folder: Path): Bind[] {
  if (!lstatOf(join(folder, "HEAD"))) return [read(folder)];
  // Git creates this folder too; where it is missing, a command could create it with hooks that the person's git would
  // run.
  attempt(() => mkdirSync(toNative(join(folder, "hooks"))));
  // Bound on itself first: a mount can be neither moved away nor replaced, a plain folder can.
  return [write(folder), ...programsOfRepository(folder)];
}

/** The files and folders of a repository that git takes programs from, read-only; nothing for another folder. */
export const programsOfRepository = (folder: Path): Bind[] =>
  lstatOf(join(folder, "HEAD"))
    ? GIT_PROGRAMS.map((name) => join(folder, name))
        .filter(isRealEntry)
        .map((path) => read(path))
    : [];

/** The folder of a repository of this user that a root is a part of: git reads all of it to tell what has changed. */
export function repositoryAbove(root: Path): Path[] {
  if (lstatOf(join(root, GIT))) return [];
  for (let folder = dirname(root); folder !== dirname(folder); folder = dirname(folder)) {
    const found = lstatOf(join(folder, GIT));
    if (found) return found.isDirectory() && found.uid === process.getuid?.() ? [folder] : [];
  }
  return [];
}

/** The repository that a linked worktree belongs to, if that one says the same: anybody can write a `.git` file. */
const commonFolderOf = (gitFile: Path): Path | undefined =>
  attempt(() => {
    const entry = readPath(gitFile, /^gitdir: (.+)$/m);
    const common = readPath(join(entry, "commondir"), /^(.+)$/m);
    const back = readPath(join(entry, "gitdir"), /^(.+)$/m);
    const belongs = back === realpathSync(gitFile) && isWithin(join(common, "worktrees"), entry);
    return belongs ? common : undefined;
  });

function readPath(file: Path, form: RegExp): Path {
  const [, path = ""] = form.exec(readRegularFile(file, MAX_LINK_BYTES)?.toString() ?? "") ?? [];
  return realpathSync(isAbsolute(path) ? path : join(dirname(file), path));
}
