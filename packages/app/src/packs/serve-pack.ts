import { createRegistry, type Registry } from "@octant/core";
import { serveZmq, type ZmqServer } from "@octant/wire";
import { LOCAL_CALLER } from "../edges.ts";
import { openOctant } from "../octant.ts";
import { findPack } from "./choose-packs.ts";
import { readPack } from "./read-pack.ts";

interface ServePackOptions {
  /** A folder, or the name of an installed pack. */
  readonly from: string;
  readonly address: string;
  readonly roots: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  log(line: string): void;
}

/** Serves the tools of one pack, and `job` for its jobs, over HOOT01. The pack has its declared rights, and no others. */
export async function servePack({
  from,
  address,
  roots,
  env,
  cwd,
  log,
}: ServePackOptions): Promise<ZmqServer> {
  const { folder, pack, version } = readPack(findPack(from, { env, cwd }));
  await using opened = new AsyncDisposableStack();
  const octant = opened.use(await openOctant({ roots, packs: [folder], tools: ["job"], env, log }));
  const served = new Set(["job", ...octant.packs.status().flatMap(({ tools }) => tools)]);
  const registry: Registry = {
    ...createRegistry([]),
    get: (name) => (served.has(name) ? octant.registry.get(name) : undefined),
    list: () => octant.registry.list().filter(({ name }) => served.has(name)),
  };
  const server = await serveZmq({
    name: pack,
    version,
    registry,
    dispatch: octant.dispatchTo(registry),
    jobs: octant.workspace.jobs,
    caller: LOCAL_CALLER,
    address,
    log,
  });
  const resources = opened.move();
  return {
    ...server,
    async close() {
      await server.close();
      await resources.disposeAsync();
    },
  };
}
