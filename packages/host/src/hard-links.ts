import { lstatSync, readdirSync, type Stats } from "node:fs";
import { attempt } from "@octant/core";
import { fromNative, type Path, toNative } from "./path.ts";

interface Wanted {
  /** The folder that contains all matches. */
  readonly folder: Path;
  matches(path: Path): boolean;
}

export const inodeOf = ({ dev, ino }: Pick<Stats, "dev" | "ino">): string => `${dev}:${ino}`;

/** Large folders without secrets; a rule about one of them starts below it. */
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", ".git"]);
const MAX_ENTRIES = 200_000;

/**
 * Whether a file that the rule is about is one of these by another name. Assumed where there are too many files to
 * check.
 */
export function hasInode({ folder, matches }: Wanted, inodes: ReadonlySet<string>): boolean {
  for (const found of linkedFilesIn(folder))
    if (found === "too many" || (inodes.has(found.inode) && matches(found.path))) return true;
  return false;
}

/**
 * Whether a file in the tree is, by another name, one that the rule is about. Most trees hold no file with several
 * names, so the tree is looked at first.
 */
export function holdsLinkTo(wanted: Wanted, tree: Path): boolean {
  const inodes = new Set<string>();
  for (const found of linkedFilesIn(tree)) {
    if (found === "too many") return true;
    inodes.add(found.inode);
  }
  return inodes.size > 0 && hasInode(wanted, inodes);
}

interface LinkedFile {
  readonly path: Path;
  readonly inode: string;
}

/** Files with several names. */
export function* linkedFilesIn(folder: Path): Generator<LinkedFile | "too many"> {
  const waiting = [folder];
  let looked = 0;
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (++looked > MAX_ENTRIES) return yield "too many";
    const found = statIfThere(path);
    if (found?.isFile() && found.nlink > 1) yield { path, inode: inodeOf(found) };
    if (!found?.isDirectory()) continue;
    for (const name of namesIn(path))
      if (!SKIPPED.has(name)) waiting.push(`${path === "/" ? "" : path}/${name}`);
  }
}

const statIfThere = (path: Path) => attempt(() => lstatSync(toNative(path), { throwIfNoEntry: false }));

const namesIn = (folder: Path): readonly Path[] =>
  attempt(() => readdirSync(toNative(folder), { encoding: "buffer" }).map(fromNative)) ?? [];
