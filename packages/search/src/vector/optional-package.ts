import { createRequire } from "node:module";
import { ToolError } from "@octant/core";

/** Throws, with instructions, when an optional heavy package is not installed. */
export function requireInstalled(name: string, what: string): void {
  try {
    createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    const how = `npm install ${name}`;
    const message = `${what} needs the package ${name}, which is not installed; run: ${how}`;
    throw new ToolError("UNSUPPORTED", message, { what, how }, { cause });
  }
}
