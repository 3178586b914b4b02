import { lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { attempt } from "@octant/core";
import type { ProjectTierName } from "./config.ts";
import type { SettingsFile } from "./settings-error.ts";

/** The person whose settings are used. */
export interface Person {
  readonly env: NodeJS.ProcessEnv;
  /** Where it is not that of `env`. */
  readonly home?: string;
}

/** The person's own folder: settings, trust, credentials. */
export interface UserFolder {
  readonly path: string;
  readonly home: string;
}

const PROJECT_FOLDER = ".hanzo";
const USER_FILE = "settings.json";
const FILES: Readonly<Record<ProjectTierName, string>> = {
  mcp: ".mcp.json",
  claude: ".claude/settings.json",
  project: `${PROJECT_FOLDER}/settings.json`,
  local: `${PROJECT_FOLDER}/settings.local.json`,
};
/** The files of a project, in the order in which they are merged. */
// Object.keys widens the keys to string.
export const PROJECT_TIERS = Object.keys(FILES) as readonly ProjectTierName[];

export function userFolder({ env, home: given = env["HOME"] }: Person): UserFolder {
  const home = given && isAbsolute(given) ? given : homedir();
  const xdg = env["XDG_CONFIG_HOME"];
  // The XDG specification says that a relative path is to be ignored.
  const config = xdg && isAbsolute(xdg) ? xdg : join(home, ".config");
  return { path: join(config, "hanzo"), home };
}

export function userFile({ path, home }: UserFolder): SettingsFile {
  const file = join(path, USER_FILE);
  return { path: file, shown: isInside(home, file) ? join("~", relative(home, file)) : file };
}

/** The file with the person's trust decisions. */
export const trustFile = ({ path }: UserFolder): SettingsFile => ({
  path: join(path, "trust.json"),
  shown: "trust.json",
});

/** Every place that settings depend on. */
export function settingsPlaces({
  roots,
  ...person
}: Person & { readonly roots: readonly string[] }): string[] {
  const user = userFolder(person);
  const own = [user.path, userFile(user).path, trustFile(user).path];
  return [
    ...own,
    ...roots.flatMap((root) => [
      join(root, PROJECT_FOLDER),
      ...PROJECT_TIERS.map((tier) => projectFile(root, tier).path),
    ]),
  ];
}

/** A project's file, which has to be at exactly this place: no part of it below the root may be a link. */
export interface ProjectFile extends SettingsFile {
  readonly root: string;
  readonly tier: ProjectTierName;
}

export function projectFile(root: string, tier: ProjectTierName): ProjectFile {
  const shown = FILES[tier];
  return { path: join(root, shown), shown, root, tier };
}

export const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
};

/** Where it really is, or the same path when there is nothing. */
export const realPlace = (path: string): string => realFuture(path) ?? path;

/** The real path of an existing or future file; undefined when it cannot be known, as with a dangling link. */
export function realFuture(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    if (isSomething(path) || dirname(path) === path) return undefined;
    const folder = realFuture(dirname(path));
    return folder && join(folder, basename(path));
  }
}

const isSomething = (path: string): boolean =>
  attempt(() => lstatSync(path, { throwIfNoEntry: false }) !== undefined) ?? true;
