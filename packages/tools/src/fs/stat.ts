import { action, type Context, Uri } from "@octant/core";
import { EntryInfo, type Files } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";

const PROGRESS_INTERVAL_MS = 1_000;

export const stat = ({ files }: { readonly files: Files }) =>
  action({
    summary: "Show the kind, size, hash, times, mode and link target of a path.",
    ...INSPECT,
    input: z.strictObject({ uri: Uri }),
    output: EntryInfo,
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
