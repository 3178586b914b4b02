import { join } from "node:path";
import {
  createClient,
  createRegistry,
  type Dispatch,
  type PackRights,
  type Registry,
  type Tool,
  ToolError,
} from "@octant/core";
import { type Denied, dataFolder, makeFolders, type Workspace } from "@octant/host";
import type { EffectiveSettings } from "@octant/runtime";
import type { ChosenPack } from "./choose-packs.ts";
import { describeRights } from "./describe-rights.ts";
import type { LoadedPack } from "./load-pack.ts";
import type { FoundPack } from "./read-pack.ts";
import { withRealPaths } from "./setting-files.ts";

export interface PackStatus {
  readonly name: string;
  readonly from: string;
  readonly version?: string;
  readonly state: "ready" | "failed";
  readonly reason?: string;
  readonly runs: "in process" | "in its own process";
  readonly rights?: PackRights;
  readonly uses: readonly string[];
  readonly tools: readonly string[];
}

export interface PackSources {
  readonly chosen: readonly ChosenPack[];
  readonly workspace: Workspace;
  readonly settings: EffectiveSettings;
  readonly registry: Registry;
  readonly env: NodeJS.ProcessEnv;
  /** Names that no pack may take: those of Octant's own tools, also of those that are off. */
  readonly reserved: readonly string[];
  /** The denials for tools with any other names than these. */
  deniedBesides(names: readonly string[]): Denied | undefined;
  dispatchTo(tools: Pick<Registry, "get" | "list">): Dispatch;
  log(line: string): void;
  onLoaded(): void;
}

export type Packs = ReturnType<typeof createPacks>;

/** The packs of a workspace. Their tools are added by `load`; those that cannot be loaded are left out, and reported. */
export function createPacks(sources: PackSources) {
  const { chosen, registry, reserved, log } = sources;
  const opened: LoadedPack[] = [];
  let all: readonly PackStatus[] = [];
  const add = async (one: ChosenPack): Promise<PackStatus> => {
    const { name, from, pack, inProcess } = one;
    const runs = inProcess ? "in process" : "in its own process";
    const about = { version: pack?.version, rights: pack?.rights, uses: pack?.uses ?? [] };
    const facts = { name, from, runs, ...about } as const;
    try {
      if (!pack) throw one.problem;
      if (one.isNamed && !inProcess) log(`pack '${name}' may ${describeRights(pack)}`);
      const loaded = await openPack(one, pack, sources);
      try {
        addTools(name, loaded.tools, registry, reserved);
      } catch (cause) {
        await loaded.close();
        throw cause;
      }
      opened.push(loaded);
      return { ...facts, state: "ready", tools: loaded.tools.map((tool) => tool.name) };
    } catch (cause) {
      if (one.isNamed || !(cause instanceof Error)) throw cause;
      log(cause.message.startsWith("pack ") ? cause.message : `pack '${name}': ${cause.message}`);
      return { ...facts, state: "failed", reason: cause.message, tools: [] };
    }
  };
  return {
    count: chosen.length,
    status: (): readonly PackStatus[] => all,
    async load(): Promise<void> {
      const results = await Promise.allSettled(chosen.map(add));
      all = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      const failed = results.find((result) => result.status === "rejected");
      if (failed) throw failed.reason;
      sources.onLoaded();
    },
    async close(): Promise<void> {
      await Promise.all(opened.splice(0).map((pack) => pack.close()));
    },
  };
}

function addTools(
  name: string,
  tools: readonly Tool[],
  registry: Registry,
  reserved: readonly string[],
): void {
  const taken = tools.find((tool) => reserved.includes(tool.name) || registry.get(tool.name));
  if (taken) {
    const owner = reserved.includes(taken.name) ? "Octant has a tool of this name" : "another pack has it";
    const message = `pack '${name}' cannot be loaded: its tool '${taken.name}' is taken; ${owner}`;
    throw new ToolError("ALREADY_EXISTS", message, { uri: taken.name });
  }
  for (const tool of tools) registry.addTool(tool);
}

async function openPack(chosen: ChosenPack, pack: FoundPack, sources: PackSources): Promise<LoadedPack> {
  const { workspace, settings: effective, env, log } = sources;
  const settings = withRealPaths(chosen.settings, pack.rights, env);
  const data = join(dataFolder(env), "pack-data", pack.pack, workspace.state.id);
  makeFolders(data, 0o700);
  const uses = toUsed(pack, sources);
  // Loaded on demand: the providers, ZeroMQ and the loader, which a start without packs saves.
  const { findPackCredentials } = await import("./find-pack-credentials.ts");
  const credentials = findPackCredentials(pack, { env, settings: effective });
  if (!chosen.inProcess) {
    const denied = () => sources.deniedBesides(sources.reserved);
    const { check } = chosen;
    const { openPackProcess } = await import("./pack-process.ts");
    return openPackProcess({
      pack,
      settings,
      data,
      workspace,
      effective,
      uses,
      credentials,
      denied,
      check,
      log,
    });
  }
  const { loadPack } = await import("./load-pack.ts");
  return loadPack(pack, {
    settings,
    folder: data,
    roots: workspace.confinement.roots,
    log: (line) => log(`pack '${pack.pack}': ${line}`),
    credentials,
    client: ({ caller, signal, front: ask }) => createClient(uses.dispatch, { caller, signal, ask }),
  });
}

/** The tools that a pack uses, as they are when it calls them. */
function toUsed({ uses }: FoundPack, { registry, dispatchTo }: PackSources) {
  const isUsed = (name: string) => uses.includes(name);
  const used: Registry = {
    ...createRegistry([]),
    get: (name) => (isUsed(name) ? registry.get(name) : undefined),
    list: () => registry.list().filter(({ name }) => isUsed(name)),
  };
  return { registry: used, dispatch: dispatchTo(used) };
}
