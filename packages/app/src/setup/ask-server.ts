import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { ToolError } from "@octant/core";
import { startLaunched } from "@octant/host";
import { createMcpServers, type McpServers, type StartedProgram } from "@octant/mcp-client";
import { findCommand } from "../mcp-servers/start-program.ts";
import { loadVersion } from "../version.ts";
import type { Start } from "./entry.ts";
import type { Machine } from "./places.ts";
import type { Target } from "./plan.ts";

/** npx may have to download the package first. */
const MAX_ANSWER_MS = 60_000;
const MAX_ENDING_MS = 2_000;
const MAX_LOG_CHARS = 4_000;

/** Why a client cannot use a server. */
export class ServerProblem extends Error {
  override readonly name = "ServerProblem";
}

/**
 * Starts the server with only the given environment, lists its tools as a client does, and stops it. Throws a
 * ServerProblem when that fails.
 */
export async function listTools(start: Start & { readonly cwd: string }): Promise<string[]> {
  await using servers = connectTo({
    servers: { octant: start },
    start: () => startProgram(start),
    connectMs: MAX_ANSWER_MS,
  });
  await servers.settled();
  const reason = servers.status()[0]?.reason;
  if (reason !== undefined) throw new ServerProblem(reason);
  const tools = servers.tools().map(({ tool }) => tool);
  if (tools.length === 0) throw new ServerProblem("it lists no tools");
  return tools;
}

/** Connects to servers whose tools are listed and never called. */
export const connectTo = (
  options: Pick<Parameters<typeof createMcpServers>[0], "servers" | "start" | "connectMs">,
): McpServers =>
  createMcpServers({
    ...options,
    version: loadVersion(),
    roots: [],
    consent: { known: () => undefined, remember: async () => {} },
    log: () => {},
  });

async function startProgram(start: Start & { readonly cwd: string }): Promise<StartedProgram> {
  const { args, env, cwd } = start;
  const program = programOf(start);
  const child = startLaunched(program, args, { cwd, env, windowsHide: true });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    log = (log + chunk).slice(-MAX_LOG_CHARS);
  });
  // The exit reports a server that has gone.
  child.stdin.on("error", () => {});
  await once(child, "spawn").catch((cause) => {
    throw cannotStart(program, cause.message);
  });
  const exited = once(child, "close").then(([code, signal]) => `${signal ?? `exit code ${code}`}`);
  return { input: child.stdin, output: child.stdout, exited, stderrTail: () => log, end: () => end(child) };
}

function programOf({ command, cwd, env }: Start & { readonly cwd: string }): string {
  const found = process.platform === "win32" ? command : findCommand(command, [cwd], env);
  if (found === undefined) throw cannotStart(command, `'${command}' is not on the PATH`);
  return found;
}

const cannotStart = (program: string, why: string) =>
  new ToolError("EXEC_FAILED", `it cannot be started: ${why}`, { program });

/** A server exits when its stdin closes; kill one that does not. */
async function end(child: ChildProcessWithoutNullStreams): Promise<void> {
  child.stdin.end();
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill("SIGKILL"), MAX_ENDING_MS);
  await once(child, "exit");
  clearTimeout(timer);
}

export type Try = ReturnType<typeof createTry>;

/** Lists the tools as the target's client would. Most clients start the same command, which is tried once. */
export function createTry(machine: Machine) {
  const tries = new Map<string, Promise<string[]>>();
  return (start: Start, target: Target): Promise<string[]> => {
    const started = asStarted(start, target, machine);
    const key = JSON.stringify(started);
    const tried = tries.get(key) ?? listTools(started);
    tries.set(key, tried);
    return tried;
  };
}

/** A start as the client does it: replaces the client's placeholders, and uses its working folder and environment. */
function asStarted(start: Start, { client, scope }: Target, machine: Machine): Start & { cwd: string } {
  const { projectWord: word } = client;
  const folder = word === undefined ? machine.cwd : machine.home;
  const replace = (text: string) => (word ? text.replaceAll(word, machine.cwd) : text);
  // The environment in a project's file may name code to run, and the project is not trusted yet.
  const isOwn = scope === "user";
  return {
    command: start.command,
    args: start.args.map(replace),
    env: { ...clientEnvironment(machine), ...(isOwn && start.env) },
    cwd: replace((isOwn && start.cwd) || folder),
  };
}

/** The variables that the official SDK passes to a server; others of the person's shell are missing. */
const HANDED_ON = {
  posix: ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"],
  win32: [
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
  ],
} as const;

/** The environment in which a client starts a server. */
function clientEnvironment({ platform, env }: Machine): Record<string, string> {
  const names = platform === "win32" ? HANDED_ON.win32 : HANDED_ON.posix;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
