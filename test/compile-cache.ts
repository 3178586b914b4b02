import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

const CACHES = join(import.meta.dirname, "../node_modules/.cache");

/** For the environment of a process with a home of its own, which would compile everything again. */
export function sharedCompileCache(): { readonly NODE_COMPILE_CACHE?: string } {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}

/** One compile cache for all processes and threads of a run: sources start three times as fast with it. */
export function setup(): () => void {
  mkdirSync(CACHES, { recursive: true });
  const folder = mkdtempSync(join(CACHES, "octant-compiled-"));
  // Tests that act as another user have a folder of their own in it.
  chmodSync(folder, 0o711);
  process.env["NODE_COMPILE_CACHE"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
