import { lstatSync, readdirSync } from "node:fs";
import { fromNative, type Path, toNative } from "@octant/host";
import { inodeOf } from "./real-path.ts";

interface Wanted {
  /** Under which everything lies that matches. */
  readonly folder: Path;
  matches(path: Path): boolean;
}

/** Folders of many files that hold nobody's secrets; a rule about one of them starts below it. */
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", ".git"]);
const MAX_ENTRIES = 200_000;

/**
 * Whether a file that the rule is about is this one by another name. Only asked for files with several names. Where
 * there is too much to look at it may be.
 */
export function hasInode({ folder, matches }: Wanted, inode: string): boolean {
  const waiting = [folder];
  let looked = 0;
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (++looked > MAX_ENTRIES) return true;
    const found = statIfThere(path);
    if (found?.isFile() && found.nlink > 1 && inodeOf(found) === inode && matches(path)) return true;
    if (!found?.isDirectory()) continue;
    for (const name of namesIn(path))
      if (!SKIPPED.has(name)) waiting.push(`${path === "/" ? "" : path}/${name}`);
  }
  return false;
}

function statIfThere(path: Path) {
  try {
    return lstatSync(toNative(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function namesIn(folder: Path): readonly Path[] {
  try {
    return readdirSync(toNative(folder), { encoding: "buffer" }).map(fromNative);
  } catch {
    return [];
  }
}
