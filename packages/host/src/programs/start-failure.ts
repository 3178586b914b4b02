import type { Readable } from "node:stream";
import { ToolError } from "@octant/core";
import { errnoOf } from "../errno.ts";

const SHORTAGES: ReadonlySet<string> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"]);
const RETRY_MS = 250;

/** Why a program of the machine could not be started, as the caller should see it. */
export function startFailure(cause: Error, program: string): ToolError {
  if (SHORTAGES.has(errnoOf(cause) ?? "")) {
    const message = "the machine has no room for another process; try again";
    return new ToolError("OVERLOADED", message, { retry_after_ms: RETRY_MS }, { cause });
  }
  const message = `${program} could not be started; \`octant doctor\` shows what is wrong`;
  return new ToolError("EXEC_FAILED", message, { program }, { cause });
}

/** Reads everything, so that the writer never waits, and returns the first `maxBytes`. */
export function collectHead(stream: Readable, maxBytes: number, onExcess = () => {}): () => Buffer {
  const kept: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    if (bytes < maxBytes) kept.push(chunk.subarray(0, maxBytes - bytes));
    bytes += chunk.length;
    if (bytes > maxBytes) onExcess();
  });
  // The program's exit status is more informative.
  stream.on("error", () => {});
  return () => Buffer.concat(kept);
}
