import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Download } from "playwright-core";

const POLL_MS = 250;

export type DownloadLimit = ReturnType<typeof createDownloadLimit>;

/**
 * Prevents the downloads of a browser, which stay in its folder until they are saved, from filling the disk. Chromium
 * reports the size of a download only to the client that set its target, so the folder is measured.
 */
export const createDownloadLimit = (folder: string, maxBytes: number) => ({
  /** Cancels the download when the folder exceeds the limit; the returned function has the limit when that happened. */
  watch(download: Pick<Download, "failure" | "cancel">): () => number | undefined {
    let isOver = false;
    const look = () => {
      if (isOver || sizeOf(folder) <= maxBytes) return;
      isOver = true;
      download.cancel().catch(() => {});
    };
    const timer = setInterval(look, POLL_MS);
    timer.unref();
    download
      .failure()
      .catch(() => {})
      .finally(() => clearInterval(timer));
    look();
    return () => (isOver ? maxBytes : undefined);
  },
});

/** Downloads are files; the profile next to them is a folder. */
function sizeOf(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isFile()) bytes += statSync(join(folder, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  return bytes;
}
