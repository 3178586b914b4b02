import { createRequire } from "node:module";
import { ToolError } from "@octant/core";

/** Refuses, and says what to do, when a package is missing that does not come with Octant because it is heavy. */
export function requireInstalled(name: string, what: string): void {
  try {
    createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    const how = `npm install ${name}`;
    const message = `${what} needs the package ${name}, which is not installed; run: ${how}`;
    throw new ToolError("UNSUPPORTED", message, { what, how }, { cause });
  }
}
