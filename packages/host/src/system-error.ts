import { type ErrorCode, ToolError } from "@octant/core";
import { errnoOf } from "./errno.ts";
import { type Path, pathToUri } from "./path.ts";

/** Converts a system error to the typed error for the caller; other errors are returned unchanged. */
export function toToolError(cause: unknown, uri: string): unknown {
  const errno = errnoOf(cause);
  if (errno === undefined) return cause;
  const options = { cause };
  switch (errno) {
    case "ENOENT":
    case "ENOTDIR":
    case "ENAMETOOLONG":
      return new ToolError("NOT_FOUND", `${uri} does not exist; fs.list shows what does`, { uri }, options);
    case "EEXIST":
      return new ToolError("ALREADY_EXISTS", `${uri} already exists`, { uri }, options);
    case "EACCES":
    case "EPERM":
    case "EROFS": {
      const message = `the operating system refuses access to ${uri} (${errno})`;
      return new ToolError("ACCESS_DENIED", message, { uri }, options);
    }
    case "ELOOP":
      return new ToolError("NOT_FOUND", `${uri} is a loop of symbolic links`, { uri }, options);
    case "ENOSPC":
    case "EDQUOT": {
      const message = "the disk is full or the quota is used up; nothing was changed";
      return new ToolError("NO_SPACE", message, {}, options);
    }
    case "EMFILE":
    case "ENFILE": {
      const message = "too many files are open; try again";
      return new ToolError("OVERLOADED", message, { retry_after_ms: RETRY_MS }, options);
    }
    default:
      return new ToolError("IO_ERROR", `a system call failed on ${uri} (${errno})`, { errno }, options);
  }
}

const RETRY_MS = 250;

/** The codes with a uri in their details. */
type EntryCode = { [C in ErrorCode]: "uri" extends keyof ToolError<C>["details"] ? C : never }[ErrorCode];

/** An error about an entry of the file system. `what` continues a sentence that starts with its uri. */
export function entryError<C extends EntryCode>(
  code: C,
  path: Path,
  what: string,
  details?: Omit<ToolError<C>["details"], "uri">,
): ToolError<C> {
  const uri = pathToUri(path);
  // TypeScript cannot see that both parts together are the details of an EntryCode.
  return new ToolError(code, `${uri} ${what}`, { uri, ...details } as unknown as ToolError<C>["details"]);
}

export const hasCode = (cause: unknown, ...codes: readonly ErrorCode[]): cause is ToolError =>
  cause instanceof ToolError && codes.includes(cause.code);
