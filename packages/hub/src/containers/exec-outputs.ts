import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { handle, newHandle, ToolError } from "@octant/core";

export const OutputRef = handle("output");
const KEPT = 20;
const MARK = "\n…\n";

/** Whole outputs of commands that were too long for an answer; the newest ones of a project are stored. */
export function openExecOutputs(folder: string) {
  const fileOf = (ref: string) => join(folder, ref);
  return {
    /** The beginning and the end, and a reference to the whole when that is not all. */
    bound(output: Buffer, maxBytes: number): { readonly text: string; readonly ref?: string } {
      if (output.length <= maxBytes) return { text: output.toString("utf8") };
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const ref = newHandle("output", Date.now());
      writeFileSync(fileOf(ref), output, { mode: 0o600 });
      // Handles begin with their time.
      for (const name of readdirSync(folder).toSorted().slice(0, -KEPT))
        rmSync(fileOf(name), { force: true });
      const half = Math.floor(maxBytes / 2);
      const [head, tail] = [output.subarray(0, half), output.subarray(-half)];
      return { text: head.toString("utf8") + MARK + tail.toString("utf8"), ref };
    },
    read(ref: string, offset: number, maxBytes: number) {
      try {
        const all = readFileSync(fileOf(ref));
        const part = all.subarray(offset, offset + maxBytes);
        const next = offset + part.length;
        return {
          text: part.toString("utf8"),
          total_bytes: all.length,
          ...(next < all.length && { next_offset: next }),
        };
      } catch (cause) {
        throw new ToolError("NOT_FOUND", "this output is no longer stored", { id: ref }, { cause });
      }
    },
  };
}
