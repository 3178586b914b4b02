import { ToolError } from "@octant/core";
import type { Confinement, Pinned, PinnedFolder } from "../confinement.ts";
import { errnoOf } from "../errno.ts";
import type { Path } from "../path.ts";

/**
 * The same confinement, but everything it opens stays open until the edit is over. An edit then happens in exactly
 * the folders that were checked when it was planned, and each is opened once. And a replaced file frees its blocks
 * when it is closed, not while a caller waits.
 */
export interface HeldOpen extends Confinement {
  /** Closes all descriptors. Never throws: the data is on disk, and the lock must be released. */
  release(): void;
}

/** A patch may change more files than a process may have open. */
const MAX_FILES = 64;

export function holdOpen(confinement: Confinement): HeldOpen {
  const folders = new Map<Path, PinnedFolder>();
  const files: Pinned[] = [];
  return {
    ...confinement,
    openFolder(path, options) {
      const folder = folders.get(path) ?? openReadable(confinement, path);
      if (!folder) return confinement.openFolder(path, options);
      folders.set(path, folder);
      return withoutClose(folder);
    },
    openFile(path) {
      const file = confinement.openFile(path);
      if (files.length >= MAX_FILES) return file;
      files.push(file);
      return withoutClose(file);
    },
    release() {
      for (const pinned of [...folders.values(), ...files]) closeQuietly(pinned);
      folders.clear();
      files.length = 0;
    },
  };
}

/** Some network file systems report earlier write errors only on close. */
function closeQuietly(pinned: Pinned): void {
  try {
    pinned[Symbol.dispose]();
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
  }
}

/** A borrower does not close it. */
const withoutClose = <T extends Pinned>(pinned: T): T => ({ ...pinned, [Symbol.dispose]() {} });

/** undefined where a folder may be passed through but not read. */
function openReadable(confinement: Confinement, path: Path): PinnedFolder | undefined {
  try {
    return confinement.openFolder(path, { readable: true });
  } catch (cause) {
    if (cause instanceof ToolError && cause.code === "ACCESS_DENIED") return undefined;
    throw cause;
  }
}
