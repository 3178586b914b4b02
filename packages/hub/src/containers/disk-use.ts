import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

const BLOCK_BYTES = 512;

/** The bytes on disk of a folder, links not followed; it stops counting beyond `enough`. */
export async function diskUse(folder: string, enough = Number.POSITIVE_INFINITY): Promise<number> {
  let bytes = 0;
  const folders = [folder];
  for (let place = folders.pop(); place !== undefined && bytes <= enough; place = folders.pop()) {
    // Commands may remove what is being counted.
    for (const entry of await readdir(place, { withFileTypes: true }).catch(() => [])) {
      const path = join(place, entry.name);
      if (entry.isDirectory()) folders.push(path);
      const stat: Stats | undefined = await lstat(path).catch(() => undefined);
      bytes += (stat?.blocks ?? 0) * BLOCK_BYTES;
    }
  }
  return bytes;
}
