import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Octant's folder among the person's caches: compiled code, handshakes. `bin/octant.js` finds it by the same rule. */
export const cacheFolder = (env: NodeJS.ProcessEnv): string =>
  join(xdgFolder(env, "XDG_CACHE_HOME", ".cache"), "octant");

/** Octant's folder among the person's data: installed packs and their data. */
export const dataFolder = (env: NodeJS.ProcessEnv): string =>
  join(xdgFolder(env, "XDG_DATA_HOME", join(".local", "share")), "octant");

/** The XDG specification says that a relative path is to be ignored: it would lead into the project. */
export function xdgFolder(env: NodeJS.ProcessEnv, variable: string, fallback: string): string {
  const given = env[variable];
  return given && isAbsolute(given) ? given : join(env["HOME"] || homedir(), fallback);
}
