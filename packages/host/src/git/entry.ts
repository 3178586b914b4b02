import { lstatSync, type Stats } from "node:fs";
import { errnoOf } from "../errno.ts";
import { type Path, toNative } from "../path.ts";

/** The entry at a path itself; undefined when there is none. */
export function entryAt(path: Path): Stats | undefined {
  try {
    return lstatSync(toNative(path));
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return undefined;
  }
}
