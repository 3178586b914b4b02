import { lstatSync, statSync } from "node:fs";
import { attempt } from "@octant/core";
import { splitNul } from "../files/nul-list.ts";
import { type Path, toNative } from "../path.ts";
import type { Setting } from "./overrides.ts";
import type { Places } from "./repository.ts";

export const LIST_SETTINGS = [
  "config",
  "--list",
  "-z",
  "--show-scope",
  "--show-origin",
  "--includes",
] as const;

/** `scope NUL origin NUL key LF value NUL`, again and again. A key alone has no LF. */
export function parseSettings(output: Buffer): Setting[] {
  const parts = splitNul(output);
  const settings: Setting[] = [];
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [scope = "", origin = "", entry = ""] = parts.slice(at, at + 3);
    const cut = entry.indexOf("\n");
    settings.push({
      scope,
      file: origin.startsWith("file:") ? origin.slice("file:".length) : undefined,
      key: cut < 0 ? entry : entry.slice(0, cut),
      value: cut < 0 ? "" : entry.slice(cut + 1),
    });
  }
  return settings;
}

/**
 * A test whether the places where settings were searched are as they were; undefined when the dependencies of the
 * settings are unknown.
 */
export function watchSettings(
  settings: readonly Setting[],
  { gitDir, commonDir }: Places,
  home: { readonly HOME?: string; readonly XDG_CONFIG_HOME?: string; readonly GIT_CONFIG_GLOBAL?: string },
): (() => boolean) | undefined {
  const { HOME = "", XDG_CONFIG_HOME = `${HOME}/.config`, GIT_CONFIG_GLOBAL } = home;
  const included = settings.filter(({ key }) => INCLUDE.test(key)).map((one) => toIncluded(one, HOME));
  if (included.includes(undefined)) return undefined;
  const files = new Set([
    `${commonDir}/config`,
    `${gitDir}/config.worktree`,
    // An include may depend on the branch.
    `${gitDir}/HEAD`,
    ...(GIT_CONFIG_GLOBAL === undefined
      ? [`${HOME}/.gitconfig`, `${XDG_CONFIG_HOME}/git/config`]
      : [GIT_CONFIG_GLOBAL]),
    ...settings.flatMap(({ file }) => (file?.startsWith("/") ? [file] : [])),
    ...included.filter((file) => file !== undefined),
  ]);
  const stamps = [...files].map((file) => [file, stampOf(file)] as const);
  const isFresh = stamps.some(([, stamp]) => stamp.changedMs > Date.now() - RACY_MS);
  // A recently written file may be written again within the same clock tick.
  if (isFresh) return undefined;
  return () => stamps.every(([file, { text }]) => stampOf(file).text === text);
}

/** Files named in the person's own settings; the sandbox must expose them, since they may be anywhere in the home. */
export function personalFiles(settings: readonly Setting[], env: NodeJS.ProcessEnv): Path[] {
  const own = settings.filter(({ scope, key }) => scope === "global" && NAMES_A_FILE.test(key));
  return own.flatMap((one) => toIncluded(one, env["HOME"] ?? "") ?? []);
}

/**
 * The repository's own settings that make git read a file, with that file; undefined when only git can determine them.
 */
export const filesNamedIn = (
  settings: readonly Setting[],
  { folder }: Places,
  home = "",
): { readonly setting: Setting; readonly file: Path | undefined }[] =>
  settings
    .filter(({ scope }) => scope === "local" || scope === "worktree")
    .filter(({ key }) => INCLUDE.test(key) || READS_A_FILE.test(key))
    .map((setting) => {
      const file = INCLUDE.test(setting.key) ? setting.file : `${folder}/`;
      return { setting, file: toIncluded({ ...setting, file }, home) };
    });

const READS_A_FILE =
  /^(blame\.ignorerevsfile|core\.(excludesfile|attributesfile)|commit\.template|diff\.orderfile|mailmap\.file)$/;
const NAMES_A_FILE = /^(include(if\..*)?\.path|core\.(excludesfile|attributesfile))$/s;
export const INCLUDE = /^include(if\..*)?\.path$/s;
const RACY_MS = 50;

/** The file that an include names; undefined when only git can determine it. */
export function toIncluded({ file, value }: Setting, home: string): Path | undefined {
  if (value.startsWith("/")) return value;
  if (value.startsWith("~/")) return `${home}/${value.slice(2)}`;
  if (value.startsWith("~") || value.startsWith("%") || !file?.startsWith("/")) return undefined;
  return `${file.slice(0, file.lastIndexOf("/"))}/${value}`;
}

/** The file behind a link and the link itself both count. */
function stampOf(file: Path): { readonly text: string; readonly changedMs: number } {
  const stamps = [lstatSync, statSync].map((look) =>
    attempt(() => look(toNative(file), { bigint: true, throwIfNoEntry: false })),
  );
  return {
    text: stamps
      .map((stat) => stat && `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`)
      .join(),
    changedMs: Math.max(0, ...stamps.map((stat) => Number(stat?.ctimeMs ?? 0))),
  };
}
