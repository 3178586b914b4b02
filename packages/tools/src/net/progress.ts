import type { Context } from "@octant/core";

const STEP_MS = 500;

/** Reports the progress of a download, at most twice a second. */
export function createProgress(ctx: Context): (bytes: number, total: number | undefined) => void {
  let reportedAt = performance.now();
  return (bytes, total) => {
    const now = performance.now();
    if (now - reportedAt < STEP_MS && bytes !== total) return;
    reportedAt = now;
    const message = total === undefined ? `${bytes} bytes` : `${bytes} of ${total} bytes`;
    ctx.progress({ progress: bytes, ...(total !== undefined && { total }), message });
  };
}
