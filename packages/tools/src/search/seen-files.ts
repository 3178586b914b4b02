import { statSync } from "node:fs";
import { attempt } from "@octant/core";
import { type Path, toNative } from "@octant/host";

/** More than the files of any page of hits. */
const MAX_FILES = 4_096;
/** A second write within the same tick of the clock would not show; some file systems count whole seconds. */
const SETTLED_MS = 2_100;
const NS_PER_MS = 1_000_000n;

/**
 * Remembers which state of a file had which hash, so that an unchanged one need not be read again. Like the trigram
 * index, it compares the inode, size, mtime and ctime.
 */
export function createSeenFiles(now: () => number = Date.now) {
  const seen = new Map<Path, { readonly hash: string; readonly stamp: string }>();
  return {
    /** Call before the file is read; call the result with its hash. */
    look(path: Path): (hash: string) => void {
      const found = statOf(path);
      seen.delete(path);
      if (!found || now() - Number(found.ctimeNs / NS_PER_MS) < SETTLED_MS) return () => {};
      return (hash) => {
        seen.set(path, { hash, stamp: stampOf(found) });
        for (const oldest of seen.keys()) if (seen.size > MAX_FILES) seen.delete(oldest);
      };
    },
    /** Whether it is in the state that had this hash; false when that is not known. */
    isStill(path: Path, hash: string): boolean {
      const was = seen.get(path);
      const found = was?.hash === hash ? statOf(path) : undefined;
      return found !== undefined && stampOf(found) === was?.stamp;
    },
  };
}

const statOf = (path: Path) =>
  attempt(() => statSync(toNative(path), { bigint: true, throwIfNoEntry: false }));

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: NonNullable<ReturnType<typeof statOf>>): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(":");
