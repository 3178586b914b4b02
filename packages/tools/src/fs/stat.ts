import { action, type Context, Hash, Uri } from "@octant/core";
import type { Files } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";

/** The kinds of directory entries. */
export const Kind = z.enum(["file", "directory", "symlink", "fifo", "socket", "device"]);

const PROGRESS_INTERVAL_MS = 1_000;

export const stat = ({ files }: { readonly files: Files }) =>
  action({
    summary: "Show the kind, size, hash, times, mode and link target of a path.",
    ...INSPECT,
    input: z.strictObject({ uri: Uri }),
    output: z.object({
      uri: z.string(),
      kind: Kind,
      size: z.int(),
      hash: Hash.nullable().optional().describe("Of files; null above 256 MiB"),
      mtime: z.string(),
      mode: z.string().describe("Octal, such as 0644"),
      target: z.string().optional().describe("Link target inside the workspace"),
      outside: z.literal(true).optional().describe("The link points outside the workspace"),
      broken: z.literal(true).optional().describe("The link target does not exist"),
    }),
    errors: ["NOT_FOUND", "OUTSIDE_WORKSPACE", "ACCESS_DENIED"],
    examples: [{ title: "Hash and size of a file", input: { uri: "README.md" } }],
    text({ uri, kind, size, mode, mtime, target, outside, broken, hash }, { path }) {
      const link = target !== undefined && `leads to ${path(target)}`;
      const facts = [kind, `${size} bytes`, `mode ${mode}`, `changed ${mtime}`, link];
      const trouble = [outside && "leads out of the workspace", broken && "its target does not exist"];
      return {
        body: `${path(uri)}: ${[...facts, ...trouble].filter(Boolean).join(", ")}`,
        handles: { hash },
      };
    },
    run: ({ uri }, ctx) => files.stat(uri, { signal: ctx.signal, onProgress: reportEverySecond(ctx) }),
  });

/** Fast calls report nothing. */
function reportEverySecond(ctx: Context): (bytes: number) => void {
  let next = performance.now() + PROGRESS_INTERVAL_MS;
  return (bytes) => {
    if (performance.now() < next) return;
    next = performance.now() + PROGRESS_INTERVAL_MS;
    ctx.progress({ progress: bytes, message: "hashing" });
  };
}
