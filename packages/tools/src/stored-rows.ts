import { type Context, Hash, staleCursor, ToolError } from "@octant/core";
import type { Blobs } from "@octant/host";
import { z } from "zod";

const Position = z.strictObject({ kept: Hash, next: z.int().min(0) });

/** Stores the whole result and returns it page by page, so that pages agree whatever changes in between. */
export async function openStoredRows<T>(ctx: Context, blobs: Blobs, make: () => Promise<T>) {
  const position = ctx.resume(Position);
  const whole = position ? readStored<T>(blobs, position.kept) : await make();
  return {
    whole,
    /** Where this page starts. */
    from: position?.next ?? 0,
    /** Sets where the next page starts. */
    more(next: number): void {
      ctx.more({ kept: position?.kept ?? blobs.put(Buffer.from(JSON.stringify(whole))), next });
    },
  };
}

function readStored<T>(blobs: Blobs, hash: Hash): T {
  try {
    // Cursors are sealed, so the hash is one that `more` stored.
    return JSON.parse(blobs.get(hash).toString()) as T;
  } catch (cause) {
    throw cause instanceof ToolError && cause.code === "NOT_FOUND" ? staleCursor() : cause;
  }
}
