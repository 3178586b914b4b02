import { lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { ToolError } from "@octant/core";
import { fromNative, inodeOf, isWithin, type Path, toNative } from "@octant/host";
import type { PathPattern } from "./path-glob.ts";

/** A file system walk lets others run after so many entries. */
const ENTRIES_PER_TURN = 2_000;
/** A folder outside the project with more entries is hidden as a whole. */
const MAX_ENTRIES_OUTSIDE = 20_000;
/** Each takes a mount in every command. */
const MAX_FOUND = 2_000;

interface Entry {
  readonly path: Path;
  readonly kind: Pick<Stats, "isFile" | "isDirectory" | "isSymbolicLink">;
}

/**
 * The existing files and folders that match, each where it really is, with further names of the same files inside the
 * roots. Nothing below a match is listed.
 */
export async function findMatching(
  patterns: readonly PathPattern[],
  roots: readonly Path[],
): Promise<readonly Path[]> {
  const matches = (path: Path) => patterns.some((pattern) => pattern.matches(path));
  const found = new Set<Path>();
  for (const start of outermost(patterns.flatMap(({ folder }) => startsOf(folder, roots)))) {
    const isInside = roots.some((root) => isWithin(root, start) || isWithin(start, root));
    let looked = 0;
    let isMatch = false;
    // A folder is entered, or not, right after it was looked at.
    for await (const { path, kind } of walk(start, () => !isMatch)) {
      isMatch = matches(path);
      if (!isInside && ++looked > MAX_ENTRIES_OUTSIDE) {
        found.add(start);
        break;
      }
      if (isMatch) found.add(kind.isSymbolicLink() ? realOf(path) : path);
      if (found.size > MAX_FOUND) throw tooMany();
    }
  }
  return [...found, ...(await otherNames(found, roots))];
}

/** A pattern that may match anywhere on the machine is looked for in the roots. */
function startsOf(folder: Path, roots: readonly Path[]): readonly Path[] {
  const below = roots.filter((root) => isWithin(folder, root));
  return below.length > 0 ? below : [folder];
}

const outermost = (folders: readonly Path[]): readonly Path[] =>
  [...new Set(folders)].filter(
    (one, _at, all) => !all.some((other) => other !== one && isWithin(other, one)),
  );

/** Names of hard links to files that were found, or are in folders that were. */
async function otherNames(found: ReadonlySet<Path>, roots: readonly Path[]): Promise<readonly Path[]> {
  const inodes = new Set<string>();
  for (const start of found)
    for await (const { path, kind } of walk(start, () => true))
      if (kind.isFile()) for (const inode of linkedInode(lstatOf(path))) inodes.add(inode);
  if (inodes.size === 0) return [];
  const names: Path[] = [];
  for (const root of roots)
    for await (const { path, kind } of walk(root, (folder) => !found.has(folder))) {
      if (!kind.isFile() || found.has(path)) continue;
      if (linkedInode(lstatOf(path)).some((inode) => inodes.has(inode))) names.push(path);
    }
  return names;
}

const linkedInode = (stat: Stats | undefined): readonly string[] =>
  stat?.isFile() && stat.nlink > 1 ? [inodeOf(stat)] : [];

/** The entry itself and everything below it. Git's objects are stored under other names. */
async function* walk(start: Path, enters: (folder: Path) => boolean): AsyncGenerator<Entry> {
  const waiting: Entry[] = [];
  const own = lstatOf(start);
  if (own) waiting.push({ path: start, kind: own });
  let looked = 0;
  for (let entry = waiting.pop(); entry; entry = waiting.pop()) {
    if (++looked % ENTRIES_PER_TURN === 0) await setImmediate();
    yield entry;
    const { path, kind } = entry;
    if (!kind.isDirectory() || path.endsWith("/.git/objects") || !enters(path)) continue;
    for (const child of entriesOf(path))
      waiting.push({ path: `${path === "/" ? "" : path}/${fromNative(child.name)}`, kind: child });
  }
}

function entriesOf(folder: Path) {
  try {
    return readdirSync(toNative(folder), { withFileTypes: true, encoding: "buffer" });
  } catch {
    return [];
  }
}

function lstatOf(path: Path): Stats | undefined {
  try {
    return lstatSync(toNative(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function realOf(path: Path): Path {
  try {
    return fromNative(realpathSync(toNative(path), "buffer"));
  } catch {
    return path;
  }
}

const tooMany = () => {
  const reason = `rules deny more than ${MAX_FOUND} files, too many to hide from a program; deny their folder instead`;
  return new ToolError("PERMISSION_DENIED", reason, { by: "permission", reason });
};
