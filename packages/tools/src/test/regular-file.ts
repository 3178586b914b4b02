import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { ToolError } from "@octant/core";

/**
 * Never waits for a writer, follows no link, and never acquires a controlling terminal: tests may replace a file by
 * anything.
 */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;

export interface RegularFile extends Disposable {
  readonly fd: number;
  readonly size: number;
}

/** Opens a file of our own for reading; undefined when it is not a regular file. */
export function openRegularFile(path: string): RegularFile | undefined {
  const fd = openSync(path, FLAGS);
  const stat = fstatSync(fd);
  if (stat.isFile()) return { fd, size: stat.size, [Symbol.dispose]: () => closeSync(fd) };
  closeSync(fd);
  return undefined;
}

/** The bytes from an offset on, no more than asked for even while the file grows. */
export function readBytes(fd: number, length: number, offset = 0): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

/** A failure in our own folders is an I/O error, not a bug. */
export function toIoError(where: string, cause: unknown): unknown {
  const errno = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  if (errno === undefined) return cause;
  if (errno === "ENOSPC")
    return new ToolError("NO_SPACE", `${where} is full; make room and try again`, {}, { cause });
  return new ToolError("IO_ERROR", `${where} cannot be written (${errno})`, { errno }, { cause });
}
