import { ToolError } from "@octant/core";
import type { Confinement } from "./confinement.ts";
import { findPlace } from "./edits/new-place.ts";
import { checkWritable } from "./edits/protected-paths.ts";

/** Why a path cannot be read, or written, whatever the rules say: the error that a call would get. */
export function refusalOf(confinement: Confinement, uri: string, writes: boolean): ToolError | undefined {
  try {
    const path = confinement.toPath(uri);
    if (writes) checkWritable(confinement.roots, path, findPlace(confinement, path).path);
    using entry = confinement.openEntry(path);
    if (!entry.stat.isSymbolicLink()) return undefined;
    using target = confinement.openFile(path);
    if (writes) checkWritable(confinement.roots, target.path);
    return undefined;
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
    return REFUSALS.has(cause.code) ? cause : undefined;
  }
}

/** Others, such as NOT_FOUND, say how the call would end, not whether it is allowed. */
const REFUSALS: ReadonlySet<string> = new Set(["OUTSIDE_WORKSPACE", "PROTECTED_PATH", "PERMISSION_DENIED"]);
