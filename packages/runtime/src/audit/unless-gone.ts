import { errnoOf } from "@octant/host";

/** Undefined when the file does not exist: writers rename heads, and retention removes parts. */
export function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}
