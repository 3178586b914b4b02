import type { Path, SourceText } from "@octant/host";
import { isUnparsable, type Sources } from "./sources.ts";

/** Files that are read ahead of the parsers. */
const AT_ONCE = 16;

/**
 * Processes every file that still exists, several at once; results come in the order of the files. Unparsable files
 * go to `onUnparsable` and have no result unless it returns one.
 */
export async function parseMany<T>(
  sources: Pick<Sources, "readIfThere">,
  files: readonly Path[],
  signal: AbortSignal,
  work: (source: SourceText) => Promise<T>,
  onUnparsable: (source: SourceText) => T | undefined,
): Promise<T[]> {
  const found: T[] = [];
  for (let at = 0; at < files.length; at += AT_ONCE) {
    signal.throwIfAborted();
    const batch = files.slice(at, at + AT_ONCE).map(async (file) => {
      const source = sources.readIfThere(file);
      if (!source) return undefined;
      try {
        return await work(source);
      } catch (cause) {
        if (isUnparsable(cause)) return onUnparsable(source);
        throw cause;
      }
    });
    for (const result of await Promise.all(batch)) if (result !== undefined) found.push(result);
  }
  return found;
}
