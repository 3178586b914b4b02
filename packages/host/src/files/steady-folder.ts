import { lstatSync } from "node:fs";
import type { PinnedFolder } from "../confinement.ts";
import { splitPath } from "../confinement.ts";
import { isWithin, type Path, toNative } from "../path.ts";

/** Time stamps of the kernel may be some milliseconds coarse: what changed later than this cannot be told apart. */
const COARSE_MS = 100;

/** The entries of a folder by name from the file system's root, which costs a third of the way through its descriptor. */
export interface SteadyFolder {
  at(name: Path): string | Buffer;
  /** Whether those names led into the folder all the time. Whatever was found is worth nothing otherwise. */
  held(): boolean;
}

/**
 * Moving a folder, or putting a link in its place, changes the change time of what was moved. So while no folder on
 * the way changes, names lead where they led before; undefined when one has just changed.
 */
export function watchSteady(roots: readonly Path[], folder: PinnedFolder): SteadyFolder | undefined {
  const root = roots.find((one) => isWithin(one, folder.path));
  if (root === undefined) return undefined;
  const before = signatures(root, folder.path);
  const [own] = before ?? [];
  if (!before || !own || own.ino !== BigInt(folder.stat.ino) || own.dev !== BigInt(folder.stat.dev))
    return undefined;
  const newest = BigInt(Date.now() - COARSE_MS) * 1_000_000n;
  if (before.some(({ ctimeNs }) => ctimeNs > newest)) return undefined;
  const prefix = folder.path === "/" ? "" : folder.path;
  return {
    at: (name) => toNative(`${prefix}/${name}`),
    held() {
      const after = signatures(root, folder.path);
      return (
        after?.length === before.length &&
        after.every(({ dev, ino, ctimeNs }, i) => {
          const was = before[i];
          return was?.dev === dev && was.ino === ino && was.ctimeNs === ctimeNs;
        })
      );
    },
  };
}

/** The folder and those above it up to the root; undefined when one of them is not there. */
function signatures(root: Path, folder: Path) {
  const found = [];
  for (let path = folder; ; path = splitPath(path).parent) {
    const stat = lstatSync(toNative(path), { bigint: true, throwIfNoEntry: false });
    if (!stat?.isDirectory()) return undefined;
    found.push(stat);
    if (path === root) return found;
  }
}
