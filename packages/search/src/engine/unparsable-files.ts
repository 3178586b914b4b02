import { hash } from "node:crypto";
import { extname } from "node:path";
import { ToolError } from "@octant/core";

const MAX_FILES = 100;

/** Remembers which files no parser can handle, so that each costs its deadline once and not in every call. */
export function createUnparsableFiles() {
  const errors = new Map<string, ToolError>();
  /** Throws the error of an earlier attempt to parse exactly this text. */
  const check = (path: string, text: string): void => {
    const known = errors.size > 0 ? errors.get(toKey(path, text)) : undefined;
    if (known) throw new ToolError(known.code, known.message, known.details, { cause: known });
  };
  return {
    check,
    /** Runs `work`, which parses the file, and remembers a TIMEOUT or LIMIT_EXCEEDED. */
    async parse<T>(path: string, text: string, work: () => Promise<T>): Promise<T> {
      check(path, text);
      try {
        return await work();
      } catch (cause) {
        if (cause instanceof ToolError) errors.set(toKey(path, text), cause);
        const [oldest] = errors.keys();
        if (errors.size > MAX_FILES && oldest) errors.delete(oldest);
        throw cause;
      }
    },
  };
}

/** By the kind of file: some callers have its whole path, others a part. */
const toKey = (path: string, text: string): string => `${hash("sha256", text)} ${extname(path)}`;
