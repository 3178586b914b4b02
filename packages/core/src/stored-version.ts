import { ToolError } from "./errors.ts";

/** Throws when a stored file says that a newer version of Octant wrote it. A file without a number is an old one. */
export function refuseNewer(version: unknown, known: number, what: string): void {
  if (typeof version !== "number" || version <= known) return;
  throw new ToolError("IO_ERROR", `a newer version of Octant wrote ${what}; update Octant`, {});
}
