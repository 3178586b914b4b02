import { ToolError } from "@octant/core";
import type { Hello, StartOrder } from "./protocol.ts";

/** Why a process could not be started, as the caller should see it. */
export function toStartError(
  errno: string,
  { name: program }: StartOrder,
  { limits: { memoryBytes } }: Hello,
): ToolError {
  if (errno === "ENOMEM" && memoryBytes !== undefined) {
    const message = `'${program}' needs more than the ${memoryBytes} bytes of memory that a command may use`;
    return new ToolError("LIMIT_EXCEEDED", message, { limit: memoryBytes, what: "memory" });
  }
  const message = `'${program}' could not be started: ${REASONS[errno] ?? errno}`;
  return new ToolError("EXEC_FAILED", message, { program });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program on the PATH, or the interpreter in its first line is missing (ENOENT)",
  EACCES: "it is not executable, or the operating system refuses it (EACCES)",
  ENOEXEC: "it is not a program for this machine; a script needs a first line such as #!/bin/sh (ENOEXEC)",
  E2BIG:
    "the command and its environment are too long for the system; put the text into a file or stdin (E2BIG)",
  EAGAIN: "the system allows no more processes; end some and try again (EAGAIN)",
  ENOMEM: "there is not enough memory (ENOMEM)",
  MODULE_NOT_FOUND: "there is no terminal support for this platform; leave pty out",
};

/** The disk does not take the record of a process. */
export const toStoreError = (errno: string): ToolError =>
  errno === "ENOSPC" || errno === "EDQUOT"
    ? new ToolError("NO_SPACE", "no disk space for its output; it was not run", {})
    : new ToolError("IO_ERROR", `its output cannot be stored (${errno}); it was not run`, { errno });
