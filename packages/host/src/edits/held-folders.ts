import { ToolError } from "@octant/core";
import type { Confinement, PinnedFolder } from "../confinement.ts";
import type { Path } from "../path.ts";

/**
 * The same confinement, with folders that stay open until the edit is over: it happens in the very folders that were
 * looked at when it was planned, and each is opened once.
 */
export function holdFolders(confinement: Confinement): Confinement & Disposable {
  const held = new Map<Path, PinnedFolder>();
  const openFolder: Confinement["openFolder"] = (path, options) => {
    const found = held.get(path) ?? openReadable(confinement, path);
    if (!found) return confinement.openFolder(path, options);
    held.set(path, found);
    return { ...found, [Symbol.dispose]() {} };
  };
  return {
    ...confinement,
    openFolder,
    [Symbol.dispose]() {
      for (const folder of held.values()) folder[Symbol.dispose]();
    },
  };
}

/** undefined where a folder may be passed through but not read. */
function openReadable(confinement: Confinement, path: Path): PinnedFolder | undefined {
  try {
    return confinement.openFolder(path, { readable: true });
  } catch (cause) {
    if (cause instanceof ToolError && cause.code === "ACCESS_DENIED") return undefined;
    throw cause;
  }
}
