import { ToolError } from "@octant/core";

/** A failure in our own folders is an I/O error, not a bug. */
export function toIoError(where: string, cause: unknown): unknown {
  const errno = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  if (errno === undefined) return cause;
  if (errno === "ENOSPC")
    return new ToolError("NO_SPACE", `${where} is full; make room and try again`, {}, { cause });
  return new ToolError("IO_ERROR", `${where} cannot be written (${errno})`, { errno }, { cause });
}
