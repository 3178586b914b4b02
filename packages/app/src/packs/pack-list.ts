import { realpathSync } from "node:fs";
import { type PackRights, ToolError } from "@octant/core";
import {
  acceptPack,
  addUserPack,
  type Config,
  isAcceptedPack,
  loadConfig,
  removeUserPack,
} from "@octant/runtime";
import { choosePacks, contentOf, findPack, isPath } from "./choose-packs.ts";
import { installPack } from "./install-pack.ts";
import { type FoundPack, readPack } from "./read-pack.ts";

export interface AddedPack {
  readonly pack: FoundPack;
  /** It is in the settings already, with the accepted content. */
  readonly isKnown: boolean;
  /** Accepts what was shown, and writes it to the person's settings. */
  accept(): Promise<void>;
}

interface Adding {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly inProcess: boolean;
}

/** Finds or installs a pack, without running any of its code. */
export async function addPack(from: string, { env, cwd, inProcess }: Adding): Promise<AddedPack> {
  const isFolder = isPath(from) && !from.endsWith(".tgz");
  const name = isFolder ? from : await installPack(from, env, cwd);
  const pack = readPack(findPack(name, { env, cwd }));
  const own = loadConfig({ roots: [], env }).settings.packs[pack.pack];
  const isSame = own !== undefined && realFolder(own.from, env) === pack.folder;
  if (own && !isSame)
    throw new ToolError(
      "ALREADY_EXISTS",
      `there is another pack '${pack.pack}' in your settings, from ${own.from}; octant pack remove ${pack.pack} removes it`,
      { uri: own.from },
    );
  // The hash is of the files that are shown now: a later change is asked about again.
  const accepted = { folder: pack.folder, hash: contentOf(pack) };
  return {
    pack,
    isKnown: isSame && isAcceptedPack(accepted, { env }),
    async accept() {
      await acceptPack(accepted, { env });
      if (isSame) return;
      const where = isFolder ? pack.folder : name;
      await addUserPack(pack.pack, { from: where, ...(inProcess && { in_process: true }) }, { env });
    },
  };
}

function realFolder(from: string, env: NodeJS.ProcessEnv): string | undefined {
  try {
    return realpathSync(findPack(from, { env }));
  } catch {
    return undefined;
  }
}

export interface ListedPack {
  readonly name: string;
  readonly from: string;
  readonly tier: string;
  readonly version?: string | undefined;
  readonly runs: "in process" | "in its own process";
  readonly rights?: PackRights | undefined;
  readonly uses: readonly string[];
  /** Why it is not loaded. */
  readonly problem?: string | undefined;
  readonly disabled: boolean;
}

/** The packs of the settings, read but not loaded. */
export function listPacks(config: Config, env: NodeJS.ProcessEnv): readonly ListedPack[] {
  const chosen = choosePacks({ config, env });
  return Object.entries(config.settings.packs).map(([name, { from, disabled = false, in_process }]) => {
    const found = chosen.find((one) => one.from === from);
    return {
      name,
      from,
      tier: config.origins.get(`packs.${name}`)?.tier ?? "user",
      version: found?.pack?.version,
      runs: in_process ? "in process" : "in its own process",
      rights: found?.pack?.rights,
      uses: found?.pack?.uses ?? [],
      problem: found?.problem?.message,
      disabled,
    };
  });
}

/** Its files stay. */
export const removePack = (name: string, env: NodeJS.ProcessEnv): Promise<void> =>
  removeUserPack(name, { env });
