import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PackRights, ToolError } from "@octant/core";
import { APART_PROXY, createProxy, installFolder, type LaunchedCommand, type Workspace } from "@octant/host";
import { type EffectiveSettings, narrowNetwork } from "@octant/runtime";

const ENTRY = fileURLToPath(new URL(`./pack-entry${extname(import.meta.url)}`, import.meta.url));

export interface PackPlace {
  readonly folder: string;
  /** The pack's own data, and the folder of its sockets. */
  readonly writes: readonly string[];
  readonly rights: PackRights;
  readonly env: Readonly<Record<string, string>>;
}

export interface WrappedPack {
  readonly launched: LaunchedCommand;
  close(): Promise<void>;
}

/** How to start the process of a pack with its rights, and no others. SANDBOX_UNAVAILABLE where they would not hold. */
export async function wrapPack(
  { sandbox, confinement }: Pick<Workspace, "sandbox" | "confinement">,
  settings: Pick<EffectiveSettings, "sandbox">,
  { folder, writes, rights, env }: PackPlace,
): Promise<WrappedPack> {
  const network = rights.network === "none" ? "off" : narrowNetwork(rights.network, settings.sandbox.network);
  const proxy = typeof network === "string" ? undefined : await createProxy(network);
  const { roots } = confinement;
  const launched = await sandbox.wrapApart({
    argv: [process.execPath, ...toNodeFlags(rights), ENTRY],
    env: {
      ...env,
      PATH: "/usr/bin:/bin",
      HOME: "/tmp",
      TMPDIR: "/tmp",
      ...(proxy && { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: APART_PROXY, HTTPS_PROXY: APART_PROXY }),
    },
    reads: [...codeOf(folder), ...(rights.files === "read" ? roots : [])],
    writes: [...writes, ...(rights.files === "write" ? roots : [])],
    proxySocket: proxy?.address,
    descriptors: 0,
  });
  if (launched) return { launched, close: async () => proxy?.close() };
  await proxy?.close();
  const { level } = await sandbox.status();
  throw new ToolError(
    "SANDBOX_UNAVAILABLE",
    "packs run in a process of their own only where bubblewrap isolates it; install bubblewrap, or add the pack with --in-process if you trust its code",
    { required: "bubblewrap", available: level },
  );
}

/** Files and network are the sandbox's; Node keeps the code from starting programs. */
const toNodeFlags = ({ processes }: PackRights): string[] =>
  processes
    ? []
    : [
        "--permission",
        "--allow-fs-read=*",
        "--allow-fs-write=*",
        "--allow-addons",
        "--allow-worker",
        "--no-warnings",
      ];

/** Where the code of the process is: the pack with its dependencies, Octant with its own, and Node. */
function codeOf(folder: string): string[] {
  const { resolve } = createRequire(import.meta.url);
  const ours = ["zod", "zeromq", "msgpackr"].map((name) => modulesAround(realpathSync(resolve(name))));
  const above: string[] = [];
  for (let at = folder; at !== dirname(at); at = dirname(at)) above.push(join(at, "node_modules"));
  const node = dirname(realpathSync(process.execPath));
  return [...new Set([folder, realpathSync(installFolder()), ...ours, ...above, node])].filter(existsSync);
}

const modulesAround = (path: string): string =>
  path.slice(0, path.lastIndexOf("/node_modules/") + "/node_modules".length);
