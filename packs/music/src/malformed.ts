import { ToolError } from "@octant/core";

/** INVALID_ARGUMENT for bytes of a caller that are not what they should be, with the offset of the fault. */
export const malformed = (what: string, offset: number, message: string, options?: ErrorOptions) =>
  new ToolError(
    "INVALID_ARGUMENT",
    `not a valid ${what}: byte ${offset}: ${message}`,
    { issues: [{ path: `byte ${offset}`, message }] },
    options,
  );

export const tooLarge = (what: string, limit: number, actual: number, unit = "bytes") =>
  new ToolError("TOO_LARGE", `${what} has ${actual} ${unit}; the limit is ${limit}`, {
    limit,
    actual,
    what: unit,
  });

/** Runs a library on foreign input: what it throws is a fault of the input. */
export function orMalformed<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw malformed(what, 0, message, { cause });
  }
}
