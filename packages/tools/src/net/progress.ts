import type { Context } from "@octant/core";

const STEP_MS = 500;

/** Tells how far a download is, twice a second at most. */
export function createProgress(ctx: Context): (bytes: number, total: number | undefined) => void {
  let told = performance.now();
  return (bytes, total) => {
    const now = performance.now();
    if (now - told < STEP_MS && bytes !== total) return;
    told = now;
    const message = total === undefined ? `${bytes} bytes` : `${bytes} of ${total} bytes`;
    ctx.progress({ progress: bytes, ...(total !== undefined && { total }), message });
  };
}
