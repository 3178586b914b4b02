import { ToolError } from "@octant/core";

/** Converts an operating system error to a typed error for the caller; returns other errors unchanged. */
export function toWriteError(cause: unknown): unknown {
  if (!(cause instanceof Error && "code" in cause) || cause instanceof ToolError) return cause;
  const options = { cause };
  switch (cause.code) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
    case "ENOTDIR":
      return new ToolError("ACCESS_DENIED", `the settings cannot be written (${cause.code})`, {}, options);
    case "ENOSPC":
    case "EDQUOT":
      return new ToolError(
        "NO_SPACE",
        "the disk is full or the quota is used up; nothing was changed",
        {},
        options,
      );
    default:
      return new ToolError("IO_ERROR", `the settings cannot be written (${cause.code})`, {}, options);
  }
}
