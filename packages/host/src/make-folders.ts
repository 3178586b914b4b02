import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "./errno.ts";

/**
 * Creates a folder and its missing parents. Node's own way never returns where the system refuses a name in an existing
 * folder as if that folder were missing, as /proc does.
 */
export function makeFolders(path: string, mode: number): void {
  const refusal = makeFolder(path, mode);
  if (!refusal) return;
  const parent = dirname(path);
  if (errnoOf(refusal) !== "ENOENT" || parent === path) throw refusal;
  if (!statSync(parent, { throwIfNoEntry: false })) makeFolders(parent, mode);
  // The parent is there now, perhaps made by another process; a second refusal is the system's.
  const again = makeFolder(path, mode);
  if (again) throw again;
}

/** Why the folder is not there. */
function makeFolder(path: string, mode: number): Error | undefined {
  try {
    mkdirSync(path, { mode });
  } catch (cause) {
    if (errnoOf(cause) === "EEXIST" && statSync(path).isDirectory()) return undefined;
    // The file system throws nothing else.
    return cause as Error;
  }
  return undefined;
}
