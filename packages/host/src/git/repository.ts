import { existsSync, lstatSync, type Stats, statSync } from "node:fs";
import { attempt, ToolError } from "@octant/core";
import { type Confinement, splitPath } from "../confinement.ts";
import { fromNative, isWithin, type Path, pathToUri, toNative, uriToPath } from "../path.ts";
import { readRegularFile } from "../regular-file.ts";
import { realPath } from "../sandbox/tree.ts";

/** Where a repository is. All paths are real ones. */
export interface Places {
  /** The top of the working tree. */
  readonly top: Path;
  /** The part that belongs to the workspace: the top, or the root below it. */
  readonly folder: Path;
  /** Where HEAD and the index of this working tree are. */
  readonly gitDir: Path;
  /** Where config, refs and objects are; the same unless this is a linked worktree. */
  readonly commonDir: Path;
}

type Roots = Pick<Confinement, "roots">;

/**
 * Finds the repository of a folder as plain files, so that git itself never looks for one: a folder that only looks
 * like a bare repository is not used, and `core.worktree` is ignored.
 */
export function findRepository(confinement: Roots, start: Path): Places {
  const root = confinement.roots
    .filter((one) => isWithin(one, start))
    .sort((a, b) => a.length - b.length)[0]!;
  for (let top = start; ; top = splitPath(top).parent) {
    const gitDir = findGitDir(confinement, top, root);
    if (gitDir !== undefined) {
      const folder = isWithin(root, top) ? top : root;
      const commonDir = findCommonDir(confinement, gitDir);
      for (const place of new Set([gitDir, commonDir])) checkOrdinary(place);
      return { top, folder, gitDir, commonDir };
    }
    if (top === "/") throw notARepository(start);
  }
}

/** The files that git reads first. */
const READ_FIRST = [
  ...[
    "HEAD",
    "config",
    "config.worktree",
    "index",
    "packed-refs",
    "commondir",
    "gitdir",
    "shallow",
    "logs/HEAD",
  ],
  ...["info/exclude", "info/attributes", "info/sparse-checkout", "info/grafts", "objects/info/alternates"],
  ...["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "ORIG_HEAD", "FETCH_HEAD"],
] as const;

/** Git would wait for a pipe, and read a device without end. */
function checkOrdinary(gitDir: Path): void {
  const odd = READ_FIRST.map((name) => `${gitDir}/${name}`).find((path) => {
    const stat = attempt(() => statSync(toNative(path), { throwIfNoEntry: false }));
    return stat !== undefined && !stat.isFile() && !stat.isDirectory();
  });
  if (odd === undefined) return;
  const message = `${pathToUri(odd)} is a pipe, socket or device, so git is not started; remove it`;
  throw new ToolError("VCS_ERROR", message, { exit_code: null });
}

/** Returns which of these files are links to files elsewhere. */
export function linksIn({ gitDir, commonDir }: Places): readonly Path[] {
  const names = [...new Set([gitDir, commonDir])].flatMap((place) =>
    READ_FIRST.map((name) => `${place}/${name}`),
  );
  return names.filter((path) => {
    const stat = attempt(() => lstatSync(toNative(path), { throwIfNoEntry: false }));
    return stat !== undefined && (stat.isSymbolicLink() || (stat.isFile() && stat.nlink > 1));
  });
}

/** Git quotes lines that it cannot use of a file that it reads, so none of these may lead out of the workspace. */
export function checkLinks(confinement: Roots, places: Places): void {
  const found = linksIn(places).find((path) => {
    const real = realPath(path);
    return real !== undefined && !isInside(confinement, places, real);
  });
  if (found === undefined) return;
  const message = `${pathToUri(found)} is a link to a file outside the workspace, so git is not started; remove it`;
  throw new ToolError("VCS_ERROR", message, { exit_code: null });
}

const notARepository = (folder: Path) =>
  new ToolError(
    "NOT_A_REPOSITORY",
    `${pathToUri(folder)} is in no git repository; proc.exec with ["git", "init"] makes one there, repo names another folder`,
    { uri: pathToUri(folder) },
  );

function findGitDir(confinement: Roots, top: Path, root: Path): Path | undefined {
  const entry = `${top === "/" ? "" : top}/.git`;
  const stat = lstatSync(toNative(entry), { throwIfNoEntry: false });
  if (!stat) return undefined;
  const isAbove = !isWithin(root, top);
  if (isAbove && !isOwnedLike(stat, root)) return undefined;
  const target = stat.isFile() ? linkedFolder(entry, top) : realPath(entry);
  if (target === undefined || !existsSync(toNative(`${target}/HEAD`))) return undefined;
  if (isAbove || isInRoot(confinement, target) || pointsBack(target, entry, top)) return target;
  throw new ToolError(
    "OUTSIDE_WORKSPACE",
    `${pathToUri(entry)} leads to a repository outside the workspace that does not know this working tree`,
    { roots: confinement.roots.map(pathToUri) },
  );
}

/** Above the root, where others may write too (as in /tmp), only a repository of the same person counts. */
const isOwnedLike = (stat: Stats, root: Path): boolean =>
  stat.uid === process.geteuid?.() || stat.uid === statSync(toNative(root)).uid;

const isInRoot = ({ roots }: Roots, path: Path) => roots.some((root) => isWithin(root, path));

/** In the workspace, or in the repository, which may be elsewhere. */
export const isInside = ({ roots }: Roots, { gitDir, commonDir }: Places, path: Path): boolean =>
  isInRoot({ roots: [...roots, gitDir, commonDir] }, path);

/** The folder that a `.git` file names. */
function linkedFolder(file: Path, top: Path): Path | undefined {
  const named = /^gitdir: ([^\r\n]+)/.exec(readSmallFile(file))?.[1];
  return named === undefined ? undefined : realPath(resolve(top, named));
}

/**
 * Whether a repository elsewhere claims this working tree: a linked worktree and a submodule are listed there.
 * Anybody can write a `.git` file; only the owner of that repository can write the reverse link.
 */
function pointsBack(gitDir: Path, entry: Path, top: Path): boolean {
  const worktree = readSmallFile(`${gitDir}/gitdir`).trim();
  if (worktree !== "") return realPath(resolve(gitDir, worktree)) === realPath(entry);
  const submodule = /^\s*worktree\s*=\s*"?([^"\r\n]+?)"?\s*$/m.exec(readSmallFile(`${gitDir}/config`))?.[1];
  return submodule !== undefined && realPath(resolve(gitDir, submodule)) === top;
}

function findCommonDir(confinement: Roots, gitDir: Path): Path {
  const named = readSmallFile(`${gitDir}/commondir`).trim();
  if (named === "") return gitDir;
  const commonDir = realPath(resolve(gitDir, named));
  const isUsual = commonDir !== undefined && splitPath(gitDir).parent === `${commonDir}/worktrees`;
  if (commonDir !== undefined && (isUsual || isInRoot(confinement, commonDir))) return commonDir;
  const message = `${pathToUri(gitDir)}/commondir leads to a repository outside the workspace`;
  throw new ToolError("OUTSIDE_WORKSPACE", message, { roots: confinement.roots.map(pathToUri) });
}

const resolve = (base: Path, path: Path): Path =>
  uriToPath(pathToUri(path.startsWith("/") ? path : `${base}/${path}`), base);

const MAX_TEXT_BYTES = 1024 * 1024;

/** The content of a small file; "" when there is none. */
export function readSmallFile(path: Path): string {
  const bytes = readRegularFile(path, MAX_TEXT_BYTES);
  return bytes === undefined ? "" : fromNative(bytes);
}
