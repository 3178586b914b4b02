import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { ToolError } from "@octant/core";
import { dataFolder, hashFolder, installFolder, isWithin } from "@octant/host";
import { type Config, isAcceptedPack, type PackSettings } from "@octant/runtime";
import { type FoundPack, readPack } from "./read-pack.ts";

export interface ChosenPack {
  readonly name: string;
  readonly from: string;
  readonly pack?: FoundPack;
  readonly inProcess: boolean;
  readonly settings: PackSettings["settings"];
  /** Named for this run, so a failure ends it. */
  readonly isNamed: boolean;
  /** Why it is not loaded. */
  readonly problem?: ToolError;
  /** Throws when its files are no longer those that the person accepted. */
  check(): void;
}

interface Choosing {
  /** Folders or names, for this run. */
  readonly packs?: readonly string[] | undefined;
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Exactly the named ones. */
  readonly isExact?: boolean;
}

/** The packs of the settings and those named for this run, read but not loaded. */
export function choosePacks(choosing: Choosing): readonly ChosenPack[] {
  const { packs = [], isExact = false, config, env, cwd = process.cwd() } = choosing;
  const { settings, origins } = config;
  const entryOf = (name: string) => (Object.hasOwn(settings.packs, name) ? settings.packs[name] : undefined);
  const named = packs.map((word) => {
    const known = entryOf(word);
    const one = choose({ from: word, ...known }, { name: word, env, cwd, isNamed: true, isAccepted: !known });
    // A folder that is named for this run gets the settings that the person has for a pack of its name.
    return { ...one, settings: one.settings ?? entryOf(one.name)?.settings };
  });
  const others = Object.entries(settings.packs)
    .filter(([name, { disabled }]) => !isExact && !disabled && !packs.includes(name))
    .map(([name, pack]) => {
      // The packs of a project were trusted with its settings, by their content.
      const isAccepted = origins.get(`packs.${name}`)?.tier !== "user";
      return choose(pack, { name, env, cwd, isNamed: false, isAccepted });
    });
  // A pack that is named for this run replaces the one of the settings.
  const isNamed = ({ name, pack }: ChosenPack) =>
    named.some((one) => one.name === name || (pack && one.pack?.folder === pack.folder));
  return [...named, ...others.filter((one) => !isNamed(one))];
}

interface Choice extends Pick<ChosenPack, "name" | "isNamed"> {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** The person has named the folder for this run, or trusted it with the project. */
  readonly isAccepted: boolean;
}

function choose(
  { from, in_process: inProcess = false, settings }: PackSettings,
  { name, env, cwd, isNamed, isAccepted }: Choice,
): ChosenPack {
  const facts = { name, from, inProcess, settings, isNamed };
  try {
    const pack = readPack(findPack(from, { env, cwd }));
    const hash = contentOf(pack);
    if (!isAccepted && !isAcceptedPack({ folder: pack.folder, hash }, { env })) throw notAccepted(pack);
    const check = () => {
      if (contentOf(pack) !== hash) throw notAccepted(pack);
    };
    return { ...facts, name: pack.pack, pack, check };
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
    return { ...facts, problem: cause, check: () => {} };
  }
}

const notAccepted = ({ pack, folder }: FoundPack) =>
  new ToolError(
    "UNTRUSTED_CONFIG",
    `pack '${pack}' was never accepted, or has changed since you accepted it; octant pack add ${folder} shows its rights and asks`,
    { waiting: [`pack: ${pack}`] },
  );

/** The hash that the person accepts: of every file of the pack, so of its rights, too. */
export const contentOf = ({ folder }: Pick<FoundPack, "folder">): string =>
  hashFolder(folder, (target) => isWithin(installFolder(), target));

/** The folder of a pack: a path, or the name of a package that was installed by `octant pack add` or with Octant. */
export function findPack(
  from: string,
  { env, cwd = process.cwd() }: { readonly env: NodeJS.ProcessEnv; readonly cwd?: string },
): string {
  if (isPath(from)) return resolve(cwd, from.replace(/^~(?=[/\\])/, env["HOME"] ?? homedir()));
  const places = [installedPacks(env), installFolder()].flatMap((folder) => [
    join(folder, "node_modules", from),
    join(folder, from),
    join(folder, "packs", from),
  ]);
  const found = places.find((folder) => existsSync(join(folder, "package.json")));
  if (found !== undefined) return found;
  throw new ToolError(
    "NOT_FOUND",
    `there is no pack '${from}'; octant pack list shows those that are installed, and ./${from} would be a folder`,
    { id: from },
  );
}

export const isPath = (from: string): boolean => isAbsolute(from) || /^(\.\.?|~)?[/\\]|^\.\.?$/.test(from);

/** Where `octant pack add` installs npm packages. */
export const installedPacks = (env: NodeJS.ProcessEnv): string => join(dataFolder(env), "packs");
