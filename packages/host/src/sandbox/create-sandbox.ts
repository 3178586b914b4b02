import { extname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { counted, ToolError } from "@octant/core";
import type { HttpProxy } from "../network/http-proxy.ts";
import { isWithin } from "../path.ts";
import { isFile, isProgram } from "../programs/trusted-program.ts";
import { toToolError } from "../system-error.ts";
import { openAcceptance } from "./acceptance.ts";
import { detectContainer } from "./container.ts";
import { exchangeMounts, openBoundExchange, openPlainExchange } from "./exchange.ts";
import { type FoundLevel, findLevel } from "./find-level.ts";
import { createGuard, type Guard } from "./guard.ts";
import { homeOf } from "./homes.ts";
import { forgetVariables } from "./launcher.ts";
import { type Mount, read } from "./mount.ts";
import { ownFiles, sharesFilesWithCache } from "./own-files.ts";
import { repositoryAbove } from "./protected.ts";
import type { Sandbox, SandboxedCommand, SandboxOptions, SandboxStatus } from "./sandbox.ts";
import { openScratch, type Scratch } from "./scratch.ts";
import { confines, isWeaker, type SandboxLevel, type SandboxSettings } from "./settings.ts";
import { watchStranded } from "./stranded.ts";
import { unheldLimits } from "./unheld-limits.ts";

/** Levels are probed on first use, and only once. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { roots, settings, env, state, levels, denials, warn = () => {} } = options;
  const { mode, network } = settings;
  let found: ReturnType<typeof open> | undefined;
  let proxy: Promise<HttpProxy> | undefined;
  const open = async (): Promise<FoundLevel & Opened> => {
    const scratch = openScratch(state);
    const guard = createGuard({ roots, scratch, warn });
    const protectedMounts = guard.mounts();
    const place = { roots, settings, env, state, scratch, protectedMounts };
    return { ...(await findLevel(place, levels)), guard, scratch };
  };
  /** A failure, such as a full disk, is not remembered: the next call tries again. */
  const find = (): ReturnType<typeof open> => {
    found ??= open().catch((cause: unknown) => {
      found = undefined;
      throw toToolError(cause, "the state folder");
    });
    return found;
  };
  const openProxy = (): Promise<HttpProxy> => {
    proxy ??= import("./proxy.ts").then(({ createProxy }) =>
      createProxy(typeof network === "string" ? [] : network),
    );
    return proxy;
  };
  /** The launcher for commands; undefined where they run unsandboxed. */
  const findWorking = async () => {
    const { working, tried, guard, scratch } = mode === "off" ? SWITCHED_OFF : await find();
    const level = mode === "off" ? "off" : (working?.level.level ?? "path_check");
    const unmet = unmetBy(level, tried, settings);
    if (unmet) throw unmet;
    return working && guard && scratch && { ...working, guard, scratch };
  };

  const status = async (): Promise<SandboxStatus> => {
    const container = detectContainer(env);
    if (mode === "off") return { mode, level: "off", detail: describeOff(settings), container, tried: [] };
    const { working, tried, advice } = await find();
    const { level = "path_check", detail = `${NOTHING}; ${advice}` } = working?.level ?? {};
    const unmet = unmetBy(level, tried, settings)?.message;
    const facts = { mode, level, detail: `${detail}${warningOn(roots)}`, container, tried };
    const limits = unheldLimits(settings);
    return { ...facts, ...(unmet !== undefined && { unmet }), ...(limits !== undefined && { limits }) };
  };

  return {
    status,
    limits: () => denials?.programLimits() ?? {},
    async unconfined() {
      const { level, detail } = await status();
      if (confines(level)) return undefined;
      const accepted = mode === "off" || openAcceptance(state.base).since() !== undefined;
      const by = mode === "off" ? settings.confined_by : undefined;
      const reason = accepted ? detail : `${detail}. ${HOW_TO_ACCEPT}`;
      return { reason, accepted, by, note: by === undefined ? UNCONFINED : undefined };
    },
    async wrap(command) {
      const program = requireProgram(command);
      const working = await findWorking();
      const { changesProtected = false, isOurs = changesProtected, readOnly = false, exchange } = command;
      // Our own programs run nothing of the project; their answers are filtered instead.
      const masked = isOurs ? [] : ((await denials?.masks()) ?? []);
      const limits = isOurs ? {} : (denials?.programLimits() ?? {});
      const isOutside = !working || limits.outside === true;
      if (isOutside && masked.length > 0) throw cannotMask(masked.length, working !== undefined);
      if (isOutside) {
        const { argv, env, folder } = command;
        return { argv, program, env, folder, launcher: false, release: () => [] };
      }
      const isOffline = command.network === "off" || limits.network === "off";
      const onlyWorkspace = limits.readOnly === true;
      const cannotWrite = readOnly || onlyWorkspace;
      if (!readOnly) checkFolder(command, roots, settings);
      const goesThroughProxy = typeof network !== "string" && !isOffline;
      const extra = [
        ...(goesThroughProxy ? proxyMounts((await openProxy()).address, INSIDE_FOLDER) : []),
        ...(exchange ? exchangeMounts : []),
      ];
      const inside = goesThroughProxy ? behindForwarder(toInside(command)) : toInside(command);
      const ownNetwork = network !== "on" || isOffline;
      const { level, plans, guard, scratch } = working;
      const entered = cannotWrite ? UNGUARDED : guard.enter({ changesProtected });
      try {
        const protectedMounts = guard.mounts();
        // In mode allowlist the roots are not shown to commands, but our own readers need them.
        const besides = [
          ...(readOnly ? roots : []),
          ...(onlyWorkspace ? roots.flatMap(repositoryAbove) : []),
          ...(command.besides ?? []),
        ];
        const mounts = plans.get({
          isOurs,
          changesProtected,
          readOnly: cannotWrite,
          onlyWorkspace,
          protectedMounts,
          extra,
          besides,
          masked,
        });
        const launched = level.launch(inside, { mounts, exchange: exchange?.path, ownNetwork });
        if (isOurs || cannotWrite || !level.binds) return { ...launched, ...entered };
        const own = { mounts, scratch: scratch.path, home: homeOf(env) };
        return { ...launched, ...entered, stranded: watchStranded(command, own) };
      } catch (cause) {
        entered.release();
        throw toToolError(cause, "the state folder");
      }
    },
    async wrapApart(command) {
      const working = await findWorking();
      if (working?.level.level !== "bubblewrap") return undefined;
      const { argv, env, reads, writes, proxySocket, descriptors } = command;
      const { level, plans, guard } = working;
      const masked = (await denials?.masks()) ?? [];
      const changes = writes.some((path) => roots.some((root) => isWithin(path, root)));
      const entered = changes ? guard.enter({ changesProtected: false }) : UNGUARDED;
      const wish = { isOurs: false, changesProtected: false, extra: [], masked };
      const protectedMounts = changes ? guard.mounts() : [];
      const mounts = plans.get({ ...wish, protectedMounts, apart: { reads, writes } });
      const over = proxySocket === undefined ? [] : proxyMounts(proxySocket, APART_FOLDER);
      const inside = proxySocket === undefined ? argv : toForwarded(argv, APART_FOLDER, descriptors);
      const launched = level.launch(
        { argv: inside, env, folder: "/", pty: false },
        { mounts, ownNetwork: true, over },
      );
      return { ...launched, ...entered };
    },
    async openExchange() {
      const working = await findWorking();
      return working?.level.binds ? openBoundExchange(working.scratch) : openPlainExchange();
    },
    async allowProtected(path) {
      const { guard } = mode === "off" ? SWITCHED_OFF : await find();
      guard?.allow(path);
    },
    async close() {
      await (await proxy)?.close();
      if (!found) return;
      const opened = await found.catch(() => undefined);
      opened?.guard.close();
      if (opened) forgetVariables(opened.scratch);
    },
  };
}

const HOW_TO_ACCEPT = "After `octant sandbox accept` the rules apply here as usual";
const UNCONFINED = "no sandbox confined it: it ran with all the rights of the person";
const OFF = "settings have switched the sandbox off: commands run with all your rights";
const describeOff = ({ confined_by }: SandboxSettings): string =>
  confined_by === undefined ? OFF : `${confined_by} confines commands; Octant adds no sandbox of its own`;
const NOTHING =
  "this machine has no sandbox that works: commands run with all your rights, only file tools are confined";

interface Opened {
  readonly guard: Guard;
  readonly scratch: Scratch;
}

const SWITCHED_OFF: Partial<FoundLevel & Opened> & Pick<FoundLevel, "tried"> = { tried: [] };

/** Nothing has to be guarded from a command that cannot write. */
const UNGUARDED = { release: () => [] };

/** Reports properties of the install or the roots that weaken or narrow the sandbox. */
function warningOn(roots: SandboxOptions["roots"]): string {
  const own = ownFiles().filter((path) => roots.some((root) => isWithin(root, path)));
  const narrowed =
    own.length > 0 ? `; Octant runs from this project, so its code is read-only: ${shortList(own)}` : "";
  return sharesFilesWithCache() ? `${narrowed}; ${LINKED}` : narrowed;
}

const MAX_NAMED = 3;

const shortList = (paths: readonly string[]): string =>
  paths.length <= MAX_NAMED
    ? paths.join(", ")
    : `${paths.slice(0, MAX_NAMED).join(", ")} and ${paths.length - MAX_NAMED} more`;

const LINKED =
  "this install is linked to a package cache that commands can write to: install Octant with npm, which copies";

function cannotMask(count: number, hasSandbox: boolean): ToolError {
  const why = hasSandbox
    ? "only the sandbox hides them from commands, so none runs outside it"
    : "this machine has no sandbox to hide them from commands; install bubblewrap, see `octant doctor`";
  const reason = `rules deny ${counted(count, "file or folder", "files and folders")}, and ${why}`;
  return new ToolError("PERMISSION_DENIED", reason, { by: "permission", reason });
}

/** Fails closed: the error when the level cannot provide what the settings require. */
function unmetBy(
  level: SandboxStatus["level"],
  tried: SandboxStatus["tried"],
  settings: SandboxSettings,
): ToolError | undefined {
  const unheld = settings.require === undefined ? undefined : unheldLimits(settings);
  if (unheld !== undefined)
    return new ToolError("SANDBOX_UNAVAILABLE", `settings require a sandbox with its limits, but ${unheld}`, {
      required: settings.require ?? level,
      available: level,
    });
  const asked = settings.require ?? neededFor(settings);
  if (asked === undefined || !isWeaker(level, asked)) return undefined;
  const reasons = tried.filter(({ works }) => !works).map((trial) => `${trial.level}: ${trial.why}`);
  const why = reasons.length > 0 ? ` (${reasons.join("; ")})` : "";
  const message = `settings ask for the sandbox '${asked}', and this is '${level}'${why}; install bubblewrap, see \`octant doctor\`, or change the settings`;
  return new ToolError("SANDBOX_UNAVAILABLE", message, { required: asked, available: level });
}

/** Named hosts need a proxy beside the command, and the loopback device, which only bubblewrap brings up. */
function neededFor({ mode, network, hide_home }: SandboxSettings): SandboxLevel | undefined {
  if (mode === "off") return undefined;
  if (typeof network !== "string" || network === "loopback") return "bubblewrap";
  return mode === "allowlist" || network === "off" || hide_home ? "unshare" : undefined;
}

/** In mode allowlist a command cannot run in a folder that is not visible. */
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

/** Removes variables that point to the outer temp folder or to /run, which do not exist inside. */
function toInside(command: SandboxedCommand): SandboxedCommand {
  const kept = Object.entries(command.env).filter(([name]) => name !== "XDG_RUNTIME_DIR");
  const env = kept.map(([name, value]) => [name, TEMP_VARIABLES.has(name) ? "/tmp" : value]);
  return { ...command, env: Object.fromEntries(env) };
}

const TEMP_VARIABLES: ReadonlySet<string> = new Set(["TMPDIR", "TMP", "TEMP"]);

const FORWARDER = `./forwarder-entry${extname(import.meta.url)}`;
const INSIDE_FOLDER = "/run/octant";
const APART_FOLDER = "/tmp/octant";
const PROXY_PORT = "3128";
/** Where a program that runs apart finds its proxy. */
export const APART_PROXY = `http://127.0.0.1:${PROXY_PORT}`;

const insideOf = (folder: string) => ({
  node: `${folder}/node`,
  forwarder: `${folder}/${FORWARDER.slice(2)}`,
  socket: `${folder}/socket`,
});

/** The program that runs a command beside a way to the proxy; Node runs it as it is. */
export const forwarderFile = (): string => fileURLToPath(new URL(FORWARDER, import.meta.url));

function proxyMounts(socket: string, folder: string): Mount[] {
  const inside = insideOf(folder);
  return [
    read(process.execPath, inside.node),
    read(forwarderFile(), inside.forwarder),
    read(socket, inside.socket),
  ];
}

/** The environment of a program beside a forwarder. */
export function proxyVariables(): Record<string, string> {
  const names = ["http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  const proxies = Object.fromEntries(names.map((name) => [name, APART_PROXY]));
  // Node's own fetch reads this one before the others.
  return { ...proxies, NODE_USE_ENV_PROXY: "1" };
}

const behindForwarder = (command: SandboxedCommand): SandboxedCommand => ({
  ...command,
  argv: toForwarded(command.argv, INSIDE_FOLDER, 0),
  env: { ...command.env, ...proxyVariables() },
});

/** The command, beside a forwarder to the proxy. */
function toForwarded(argv: readonly string[], folder: string, descriptors: number): [string, ...string[]] {
  const { node, forwarder, socket } = insideOf(folder);
  return [node, ...forwarderArgs(forwarder, socket, descriptors), ...argv];
}

/** The arguments that Node is started with, before the command. */
export const forwarderArgs = (forwarder: string, socket: string, descriptors = 0): string[] => [
  forwarder,
  socket,
  PROXY_PORT,
  String(descriptors),
];

/** A launcher reports a missing program only on its stderr, so we check first; EXEC_FAILED when it is missing. */
function requireProgram({ argv: [program], env, folder }: SandboxedCommand): string {
  const places = program.includes("/")
    ? [resolve(folder, program)]
    : (env["PATH"] ?? "").split(":").map((path) => resolve(folder, path, program));
  const found = places.find(isProgram);
  if (found !== undefined) return found;
  const reason = places.some(isFile)
    ? "it is not executable (EACCES)"
    : "there is no such program on the PATH (ENOENT)";
  throw new ToolError("EXEC_FAILED", `'${program}' could not be started: ${reason}`, { program });
}
