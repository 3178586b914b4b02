import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { ToolError } from "@octant/core";

/**
 * Never waits for a writer, follows no link, and never acquires a controlling terminal: tests may replace a file by
 * anything.
 */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;

/** Opens a file of our own for reading; undefined when it is not a regular file. */
export function openRegularFile(path: string) {
  const fd = openSync(path, FLAGS);
  const stat = fstatSync(fd);
  if (stat.isFile()) return { fd, size: stat.size, [Symbol.dispose]: () => closeSync(fd) };
  closeSync(fd);
  return undefined;
}

/** A failure in our own folders is an I/O error, not a bug. */
export function toIoError(where: string, cause: unknown): unknown {
  const errno = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  if (errno === undefined) return cause;
  if (errno === "ENOSPC")
    return new ToolError("NO_SPACE", `${where} is full; make room and try again`, {}, { cause });
  return new ToolError("IO_ERROR", `${where} cannot be written (${errno})`, { errno }, { cause });
}
