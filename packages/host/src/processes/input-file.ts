import { writeFileSync } from "node:fs";
import { ToolError } from "@octant/core";
import { toToolError } from "../system-error.ts";
import type { InputSource } from "./protocol.ts";

export const MAX_STDIN_BYTES = 10 * 1024 * 1024;

/** Input known at the start is stored in a file: the program can seek in it, and nothing blocks on it. */
export function storeInput(path: string, stdin: Uint8Array | "open" | "closed"): InputSource {
  if (typeof stdin === "string") return stdin;
  if (stdin.length > MAX_STDIN_BYTES)
    throw new ToolError("TOO_LARGE", "that is too much for stdin; put it into a file", {
      limit: MAX_STDIN_BYTES,
      actual: stdin.length,
      what: "stdin",
    });
  try {
    writeFileSync(path, stdin, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    throw toToolError(cause, "the state folder");
  }
  return { file: path };
}
