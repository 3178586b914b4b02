import { ToolError } from "@octant/core";

/** The result codes of SQLite that a machine can cause; the low byte is the kind. */
const BUSY = 5;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** Runs the work on the named data; an SQLite error that the machine causes becomes a ToolError. */
export function asToolError<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw toToolError(what, cause);
  }
}

export const isDamaged = (cause: unknown): boolean => [CORRUPT, NOT_A_DATABASE].includes(codeOf(cause) ?? 0);

export function toToolError(what: string, cause: unknown): unknown {
  const options = { cause };
  switch (codeOf(cause)) {
    case FULL:
      return new ToolError(
        "NO_SPACE",
        "the disk with the state folder is full; make room and call again",
        {},
        options,
      );
    case BUSY:
      return new ToolError("LOCKED", `another process holds ${what}; call again`, {}, options);
    case READ_ONLY:
    case IO_ERROR:
    case CORRUPT:
    case CANNOT_OPEN:
    case NOT_A_DATABASE: {
      const message = `${what} in the state folder cannot be used; octant doctor shows where it is`;
      return new ToolError("IO_ERROR", message, {}, options);
    }
    default:
      return cause;
  }
}

const codeOf = (cause: unknown): number | undefined =>
  cause instanceof Error && "errcode" in cause && typeof cause.errcode === "number"
    ? cause.errcode & 0xff
    : undefined;
