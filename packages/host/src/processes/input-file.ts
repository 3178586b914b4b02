import { writeFileSync } from "node:fs";
import { ToolError } from "@octant/core";
import { toToolError } from "../system-error.ts";
import type { InputSource } from "./protocol.ts";

export const MAX_STDIN_BYTES = 10 * 1024 * 1024;

type GivenInput = Uint8Array | "open" | "closed";

export function checkInput(stdin: GivenInput | undefined): void {
  const actual = stdin instanceof Uint8Array ? stdin.length : 0;
  if (actual > MAX_STDIN_BYTES)
    throw new ToolError("TOO_LARGE", "that is too much for stdin; put it into a file", {
      limit: MAX_STDIN_BYTES,
      actual,
      what: "stdin",
    });
}

/** Input known at the start is stored in a file: the program can seek in it, and nothing blocks on it. */
export function storeInput(path: string, stdin: GivenInput): InputSource {
  if (typeof stdin === "string") return stdin;
  try {
    writeFileSync(path, stdin, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    throw toToolError(cause, "the state folder");
  }
  return { file: path };
}
