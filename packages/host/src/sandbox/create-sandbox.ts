import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolError } from "@octant/core";
import { isWithin } from "../path.ts";
import { detectContainer } from "./container.ts";
import { exchangeMounts, openBoundExchange, openPlainExchange } from "./exchange.ts";
import { type FoundLevel, findLevel } from "./find-level.ts";
import { forgetVariables } from "./launcher.ts";
import { type Mount, read } from "./mount.ts";
import { findProgram } from "./program.ts";
import type { HostProxy } from "./proxy.ts";
import type { Readers } from "./readers.ts";
import type { LaunchedCommand, Sandbox, SandboxedCommand, SandboxOptions, SandboxStatus } from "./sandbox.ts";
import { openScratch } from "./scratch.ts";
import { isWeaker, type SandboxLevel, type SandboxSettings } from "./settings.ts";

/** Nothing is tried before somebody asks, and nothing is tried twice. */
export function createSandbox({ roots, settings, env, state, levels }: SandboxOptions): Sandbox {
  const { mode, network } = settings;
  let found: Promise<FoundLevel> | undefined;
  let status: Promise<SandboxStatus> | undefined;
  let proxy: Promise<HostProxy> | undefined;
  let readers: Promise<Readers> | undefined;
  const find = (): Promise<FoundLevel> => {
    found ??= findLevel({ roots, settings, env, state, scratch: openScratch(state) }, levels);
    return found;
  };
  const openProxy = async (): Promise<HostProxy> => {
    proxy ??= import("./proxy.ts").then(({ createProxy }) =>
      createProxy(typeof network === "string" ? [] : network),
    );
    return proxy;
  };
  const openReaders = async (): Promise<Readers> => {
    readers ??= import("./readers.ts").then(({ createReaders }) => createReaders(roots, openScratch(state)));
    return readers;
  };
  /** What commands are launched with; nothing where they run as they are. */
  const findWorking = async (): Promise<FoundLevel["working"]> => {
    checkRequirements(await getStatus(), settings);
    return mode === "off" ? undefined : (await find()).working;
  };

  const describe = async (): Promise<SandboxStatus> => {
    const container = detectContainer(env);
    if (mode === "off") return { mode, level: "off", detail: SWITCHED_OFF, container, tried: [] };
    const { working, tried, advice } = await find();
    const { level, detail } = working?.level ?? {
      level: "path_check" as const,
      detail: `${NOTHING}; ${advice}`,
    };
    return { mode, level, detail, container, tried };
  };
  const getStatus = (): Promise<SandboxStatus> => {
    status ??= describe();
    return status;
  };

  return {
    status: getStatus,
    async wrap(command) {
      const program = findProgram(command);
      const working = await findWorking();
      if (!working) return asItIs(command, program);
      checkFolder(command, roots, settings);
      const goesThroughProxy = typeof network !== "string" && command.network !== "off";
      const { changesProtected = false, besides, exchange } = command;
      const extra = [
        ...(goesThroughProxy ? proxyMounts(await openProxy()) : []),
        ...(exchange ? exchangeMounts : []),
      ];
      const mounts = working.plans.get({ changesProtected, extra, besides });
      const inside = { ...withoutOutside(command), ...(goesThroughProxy && behindForwarder(command)) };
      const ownNetwork = network !== "on" || command.network === "off";
      return working.level.launch(inside, { mounts, exchange: exchange?.path, ownNetwork });
    },
    async openReader(besides) {
      const working = await findWorking();
      return working && (await openReaders()).open(working, besides);
    },
    async openExchange() {
      const working = await findWorking();
      return working?.level.binds ? openBoundExchange(openScratch(state)) : openPlainExchange();
    },
    async close() {
      await (await readers)?.close();
      await (await proxy)?.close();
      if (found) forgetVariables(openScratch(state));
    },
  };
}

const SWITCHED_OFF = "settings have switched the sandbox off: commands run with all your rights";
const NOTHING =
  "this machine has no sandbox that works: commands run with all your rights, only file tools are confined";

const asItIs = ({ argv, env, folder }: SandboxedCommand, program: string): LaunchedCommand => ({
  argv,
  program,
  env,
  folder,
  launcher: false,
});

/** Fails closed: what settings ask for and the level cannot do is no reason to do less. */
function checkRequirements(
  { level, tried }: SandboxStatus,
  { require, mode, network, hide_home }: SandboxSettings,
): void {
  const asked: SandboxLevel | undefined =
    require ?? (mode === "off" ? undefined : neededFor({ mode, network, hide_home }));
  if (asked === undefined || !isWeaker(level, asked)) return;
  const reasons = tried.filter(({ works }) => !works).map((trial) => `${trial.level}: ${trial.why}`);
  const why = reasons.length > 0 ? ` (${reasons.join("; ")})` : "";
  const message = `settings ask for the sandbox '${asked}', and this is '${level}'${why}; install bubblewrap, see \`octant doctor\`, or change the settings`;
  throw new ToolError("SANDBOX_UNAVAILABLE", message, { required: asked, available: level });
}

/** Named hosts need a proxy beside the command, and the loopback device, which only bubblewrap brings up. */
function neededFor({
  mode,
  network,
  hide_home,
}: Pick<SandboxSettings, "mode" | "network" | "hide_home">): SandboxLevel | undefined {
  if (typeof network !== "string" || network === "loopback") return "bubblewrap";
  return mode === "allowlist" || network === "off" || hide_home ? "unshare" : undefined;
}

/** Where nothing else is seen, a command cannot run in a folder that is not. */
function checkFolder(
  { folder }: SandboxedCommand,
  roots: SandboxOptions["roots"],
  settings: SandboxSettings,
): void {
  const { mode, allowed_paths } = settings;
  if (mode !== "allowlist" || roots.includes(folder)) return;
  const [first = "/"] = roots;
  const allowed = allowed_paths.map((path) => (path.startsWith("/") ? path : `${first}/${path}`));
  if (allowed.some((path) => isWithin(path.replace(/\/+$/, ""), folder))) return;
  const message =
    "the sandbox shows only the allowed paths of the settings, and this folder is not in them; use another cwd";
  throw new ToolError("PERMISSION_DENIED", message, { by: "sandbox", rule: "sandbox.allowed_paths" });
}

/** The temp folder is another one inside, and what lies in /run is not there. */
function withoutOutside(command: SandboxedCommand): SandboxedCommand {
  const kept = Object.entries(command.env).filter(([name]) => name !== "XDG_RUNTIME_DIR");
  const env = kept.map(([name, value]) => [name, TEMP_VARIABLES.has(name) ? "/tmp" : value]);
  return { ...command, env: Object.fromEntries(env) };
}

const TEMP_VARIABLES: ReadonlySet<string> = new Set(["TMPDIR", "TMP", "TEMP"]);

const FORWARDER = `./forwarder-entry${extname(import.meta.url)}`;
const INSIDE = {
  node: "/run/octant/node",
  forwarder: `/run/octant/${FORWARDER.slice(2)}`,
  socket: "/run/octant/socket",
};
const PROXY_PORT = "3128";

const proxyMounts = ({ socket }: HostProxy): Mount[] => [
  read(process.execPath, INSIDE.node),
  read(fileURLToPath(new URL(FORWARDER, import.meta.url)), INSIDE.forwarder),
  read(socket, INSIDE.socket),
];

function behindForwarder(command: SandboxedCommand): Pick<SandboxedCommand, "argv" | "env"> {
  const address = `http://127.0.0.1:${PROXY_PORT}`;
  const names = ["http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  const { env } = withoutOutside(command);
  return {
    argv: [INSIDE.node, INSIDE.forwarder, INSIDE.socket, PROXY_PORT, ...command.argv],
    // Node's own fetch asks for this one before it looks at the others.
    env: { ...env, ...Object.fromEntries(names.map((name) => [name, address])), NODE_USE_ENV_PROXY: "1" },
  };
}
