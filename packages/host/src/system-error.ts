import { ToolError } from "@octant/core";
import { errnoOf } from "./errno.ts";

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
    case "EROFS":
      return new ToolError(
        "ACCESS_DENIED",
        `the operating system refuses access to ${uri} (${errno})`,
        { uri },
        options,
      );
    case "ELOOP":
      return new ToolError("NOT_FOUND", `${uri} is a link that leads round in a circle`, { uri }, options);
    case "ENOSPC":
    case "EDQUOT":
      return new ToolError(
        "NO_SPACE",
        "the disk is full or the quota is used up; nothing was changed",
        {},
        options,
      );
    case "EMFILE":
    case "ENFILE":
      return new ToolError(
        "OVERLOADED",
        "too many files are open; try again",
        { retry_after_ms: RETRY_MS },
        options,
      );
    default:
      return new ToolError("IO_ERROR", `a system call failed on ${uri} (${errno})`, { errno }, options);
  }
}

const RETRY_MS = 250;
