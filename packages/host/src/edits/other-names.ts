import { lstatSync, readdirSync, type Stats } from "node:fs";
import { ToolError } from "@octant/core";
import { type Confinement, type PinnedFolder, splitPath } from "../confinement.ts";
import { isWithin, type Path, pathToUri } from "../path.ts";
import type { Change } from "./file-step.ts";
import { PROTECTED } from "./protected-paths.ts";

/**
 * Refuses to write into a file that is also a protected one by another hard link. The system cannot list a file's
 * names, so only those are checked that would turn a file of this project into a command.
 */
export function checkOtherNames(confinement: Confinement, changes: readonly Change[]): void {
  for (const { path, before, after } of changes) {
    if (!before || !after || before.stat.nlink === 1) continue;
    for (const above of foldersAbove(confinement.roots, path)) {
      using folder = confinement.openFolder(above);
      const other = dangerousNames(folder).find((name) => isSameFile(folder.at(name), before.stat));
      if (other !== undefined) throw isProtectedToo(path, other);
    }
  }
}

function foldersAbove(roots: readonly Path[], path: Path): Path[] {
  const { parent } = splitPath(path);
  if (parent === path || !roots.some((root) => isWithin(root, parent))) return [];
  return [parent, ...foldersAbove(roots, parent)];
}

const HOOKS = ".git/hooks";
const NAMES = [".git/config", ...PROTECTED.flatMap(({ names }) => names)];

function dangerousNames(folder: PinnedFolder): readonly Path[] {
  try {
    return [...NAMES, ...readdirSync(folder.at(HOOKS), "utf8").map((name) => `${HOOKS}/${name}`)];
  } catch {
    // Not a repository, or its hooks are elsewhere or unreadable.
    return NAMES;
  }
}

function isSameFile(path: string | Buffer, { dev, ino }: Stats): boolean {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found?.dev === dev && found.ino === ino;
  } catch {
    // An unreadable entry is not writable for us either.
    return false;
  }
}

function isProtectedToo(path: Path, other: Path): ToolError {
  const uri = pathToUri(path);
  const message = `${uri} is the same file as the protected ${other} (a hard link). Ask the person to change it by hand.`;
  return new ToolError("PROTECTED_PATH", message, { uri, rule: other });
}
