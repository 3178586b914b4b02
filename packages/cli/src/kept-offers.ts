import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { KeptOffers } from "@octant/mcp";

/**
 * The entries of tools/list, kept beside the code that Node has compiled for us, and as much to be relied on. They follow
 * from the declarations, and these from the file that we run from; a checkout, whose sources change one by one, keeps none.
 */
export function createKeptOffers(
  env: NodeJS.ProcessEnv,
  madeFrom: readonly unknown[],
  code = import.meta.filename,
): KeptOffers | undefined {
  if (!code.endsWith(".js")) return undefined;
  const { mtimeMs, size } = statSync(code);
  const key = createHash("sha256")
    .update(JSON.stringify([code, mtimeMs, size, madeFrom]))
    .digest("hex");
  const xdg = env["XDG_CACHE_HOME"];
  const cache = xdg && isAbsolute(xdg) ? xdg : join(env["HOME"] || homedir(), ".cache");
  const folder = join(cache, "octant", "listings");
  const file = join(folder, `${key}.json`);
  return {
    load() {
      try {
        // Written by `keep`, whole or not at all.
        return JSON.parse(readFileSync(file, "utf8"));
      } catch {
        return undefined;
      }
    },
    keep(offers) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        const draft = `${file}.${process.pid}`;
        writeFileSync(draft, JSON.stringify(offers), { mode: 0o600 });
        renameSync(draft, file);
      } catch {
        // A cache that cannot be written is made anew each time.
      }
    },
  };
}
