import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { invalidArgument, type PackRights, ToolError } from "@octant/core";
import {
  APART_PROXY,
  createProxy,
  installFolder,
  type LaunchedCommand,
  type ProxyOptions,
  type Workspace,
} from "@octant/host";
import { type EffectiveSettings, narrowNetwork } from "@octant/runtime";
import { filesOf } from "./setting-files.ts";

const ENTRY = fileURLToPath(new URL(`./pack-entry${extname(import.meta.url)}`, import.meta.url));

export interface PackPlace {
  readonly folder: string;
  /** The pack's own data, and the folder of its sockets. */
  readonly writes: readonly string[];
  readonly rights: PackRights;
  /** They name hosts and files that the rights refer to. */
  readonly settings: Readonly<Record<string, unknown>> | undefined;
  readonly denies: ProxyOptions["denies"];
  readonly onRefused: ProxyOptions["onRefused"];
  readonly env: Readonly<Record<string, string>>;
}

export interface WrappedPack {
  readonly launched: LaunchedCommand;
  close(): Promise<void>;
}

/** How to start the process of a pack with its rights, and no others. SANDBOX_UNAVAILABLE where they would not hold. */
export async function wrapPack(
  { sandbox, confinement }: Pick<Workspace, "sandbox" | "confinement">,
  effective: Pick<EffectiveSettings, "sandbox" | "net">,
  { folder, writes, rights, settings, denies, onRefused, env }: PackPlace,
): Promise<WrappedPack> {
  const hosts = hostsOf(rights, settings);
  const network = hosts.length === 0 ? "off" : narrowNetwork(hosts, effective.sandbox.network);
  const { deny } = effective.net;
  const proxy =
    typeof network === "string" ? undefined : await createProxy(network, { denies, deny, onRefused });
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
    reads: [...codeOf(folder), ...filesOf(rights, settings), ...(rights.files === "read" ? roots : [])],
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

/** The hosts that a pack may reach, with those of its settings. */
function hostsOf({ network }: PackRights, settings: PackPlace["settings"] = {}): readonly string[] {
  if (network === "none") return [];
  return network.flatMap((host) => {
    if (!host.startsWith("$")) return [host];
    const name = host.slice(1);
    const address = settings[name];
    if (address === undefined) return [];
    const url = typeof address === "string" ? URL.parse(address) : undefined;
    const port = url?.port || { "http:": "80", "https:": "443" }[url?.protocol ?? ""];
    if (!url || port === undefined)
      throw invalidArgument(`settings.${name}`, `${name} is not an http or https URL`);
    return [`${url.hostname}:${port}`];
  });
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
