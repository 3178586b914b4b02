import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "./errno.ts";

/**
 * Creates a folder and its missing parents. Node's own way never returns where the system refuses a name in an existing
 * folder as if that folder were missing, as /proc does.
 */
export function makeFolders(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (cause) {
    const errno = errnoOf(cause);
    if (errno === "EEXIST" && statSync(path).isDirectory()) return;
    const parent = dirname(path);
    if (errno !== "ENOENT" || parent === path || statSync(parent, { throwIfNoEntry: false })) throw cause;
    makeFolders(parent, mode);
    makeFolders(path, mode);
  }
}
