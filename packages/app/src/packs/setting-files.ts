import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { attempt, invalidArgument, type PackRights } from "@octant/core";

type Settings = Readonly<Record<string, unknown>>;

/**
 * The settings of a pack with the real paths of the files that its rights name, so that the pack finds them where its
 * home is another one. A file that does not exist keeps its path; the pack reports it.
 */
export function withRealPaths(
  settings: Settings | undefined,
  { reads }: PackRights,
  env: NodeJS.ProcessEnv,
): Settings | undefined {
  if (!settings) return undefined;
  const real = namesIn(reads, settings).map((name) => [name, toRealPath(name, settings[name], env)] as const);
  return { ...settings, ...Object.fromEntries(real) };
}

/** The files that a pack may read besides those of the workspace: regular files, as its settings name them. */
export const filesOf = ({ reads }: PackRights, settings: Settings = {}): string[] =>
  namesIn(reads, settings)
    .map((name) => String(settings[name]))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());

const namesIn = (reads: readonly string[], settings: Settings): string[] =>
  reads.map((word) => word.slice(1)).filter((name) => settings[name] !== undefined);

function toRealPath(name: string, path: unknown, env: NodeJS.ProcessEnv): string {
  const expanded =
    typeof path === "string" ? path.replace(/^~(?=[/\\])/, () => env["HOME"] ?? homedir()) : "";
  if (!isAbsolute(expanded))
    throw invalidArgument(`settings.${name}`, `${name} is not an absolute path, nor one that begins with ~/`);
  return attempt(() => realpathSync(expanded)) ?? resolve(expanded);
}
