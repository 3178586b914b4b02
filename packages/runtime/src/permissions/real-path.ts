import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { fromNative, inodeOf, type Path, splitPath, toNative, uriToPath } from "@octant/host";

export interface ResolvedPath {
  /** The name as it was given, without `.` and `..`. */
  readonly named: Path;
  /** The entry that it names, in the folder where that really is; links end here. */
  readonly entry: Path;
  /** Where reading or writing it really leads, also when that is not there yet. */
  readonly real: Path;
  /** Whether the call is about all that is below it, too. */
  readonly isTree: boolean;
  /** Set when the file has other names, too. */
  readonly inode?: string;
}

const MAX_LINKS = 40;

/**
 * Throws when the path cannot be followed: not a path, a loop of links, an unreadable folder. A missing path of a tree
 * may be a folder in another commit; one of an "existing" tree is no folder.
 */
export function resolvePath(uri: string, base: Path, holdsTree: boolean | "existing"): ResolvedPath {
  const named = uriToPath(uri, base);
  const real = toRealPath(named, MAX_LINKS);
  const { parent, name } = splitPath(named);
  const entry = real === named ? named : joinPath(toRealPath(parent, MAX_LINKS), name);
  const found = statSync(toNative(real), { throwIfNoEntry: false });
  const isTree = holdsTree !== false && (found?.isDirectory() ?? holdsTree === true);
  return { named, entry, real, isTree, ...(found?.isFile() && found.nlink > 1 && { inode: inodeOf(found) }) };
}

function toRealPath(path: Path, linksLeft: number): Path {
  const native = toNative(path);
  const entry = lstatSync(native, { throwIfNoEntry: false });
  if (entry && !(entry.isSymbolicLink() && isDangling(native))) return realPathOf(native);
  const { parent, name } = splitPath(path);
  const folder = toRealPath(parent, linksLeft);
  if (!entry) return joinPath(folder, name);
  if (linksLeft === 0) throw new Error("too many links");
  // Writing to a dangling link creates its target.
  const target = fromNative(readlinkSync(native, { encoding: "buffer" }));
  return toRealPath(joinPath(folder, target), linksLeft - 1);
}

const realPathOf = (native: string | Buffer): Path =>
  fromNative(realpathSync.native(native, { encoding: "buffer" }));

/** Throws on a loop of links. */
const isDangling = (native: string | Buffer): boolean =>
  statSync(native, { throwIfNoEntry: false }) === undefined;

const joinPath = (folder: Path, name: Path): Path =>
  name.startsWith("/") ? name : `${folder === "/" ? "" : folder}/${name}`;
