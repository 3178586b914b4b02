import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

const CACHES = join(import.meta.dirname, "../node_modules/.cache");

/** One compile cache for all processes and threads of a run: sources start three times as fast with it. */
export function setup(): () => void {
  mkdirSync(CACHES, { recursive: true });
  const folder = mkdtempSync(join(CACHES, "octant-compiled-"));
  // Tests that act as another user have a folder of their own in it.
  chmodSync(folder, 0o711);
  process.env["NODE_COMPILE_CACHE"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
