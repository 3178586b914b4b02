import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { attempt } from "@octant/core";
import type { Path } from "../path.ts";
import { xdgFolder } from "../user-folders.ts";
import { MASKED } from "./home-places.ts";
import { realPath, statOf } from "./tree.ts";

/** The home that HOME names, and the one in the user database, which may lack this user. */
export function homesOf(
  env: NodeJS.ProcessEnv,
  recorded = attempt(() => userInfo().homedir) ?? "",
): readonly string[] {
  const home = homeOf(env);
  return [...new Set([home, (recorded && realPath(recorded)) || home])];
}

/** The places of this user's secrets, hidden from commands and from all tools alike. */
export function secretPlaces(env: NodeJS.ProcessEnv): Path[] {
  const settings = join(xdgFolder({ ...env, HOME: homeOf(env) }, "XDG_CONFIG_HOME", ".config"), "hanzo");
  return [settings, ...homesOf(env).flatMap((home) => MASKED.map((path) => join(home, path)))];
}

export const homeOf = (env: NodeJS.ProcessEnv): string => realPath(env["HOME"] || homedir()) ?? "/";

/** False for placeholder homes such as `/` or `/nonexistent`. */
export const hasHome = (home: string): boolean =>
  home !== "/" && dirname(home) !== home && statOf(home)?.isDirectory() === true;
