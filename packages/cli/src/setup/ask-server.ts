import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { findOutsideProjects, pathOutsideProjects, startLaunched } from "@octant/host";
import type { Start } from "./entry.ts";
import type { Machine } from "./places.ts";
import type { Target } from "./plan.ts";

/** npx may have to download the package first. */
const MAX_ANSWER_MS = 60_000;
const MAX_ENDING_MS = 2_000;
const SHOWN_CHARS = 400;

/** Why a client cannot use a server. */
export class ServerProblem extends Error {
  override readonly name = "ServerProblem";
}

/**
 * Starts the server with only the given environment, lists its tools as a client does, and stops it. Throws a
 * ServerProblem when that fails.
 */
export async function listTools(start: Start & { readonly cwd: string }): Promise<string[]> {
  const { command, args, env, cwd } = start;
  const program = findCommand(command, start);
  const child = startLaunched(program, args, { cwd, env, windowsHide: true });
  const timeout = AbortSignal.timeout(MAX_ANSWER_MS);
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    log = (log + chunk).slice(-SHOWN_CHARS);
  });
  // The exit event reports a server that has gone.
  child.stdin.on("error", () => {});
  try {
    const tools = await Promise.race([talk(child), failure(child, timeout, () => log)]);
    if (tools.length === 0) throw new ServerProblem("it lists no tools");
    return tools;
  } finally {
    await end(child);
  }
}

/** Never looks up a name inside the project, which could contain a program of that name. */
function findCommand(command: string, { cwd, env }: Start & { readonly cwd: string }): string {
  if (/[/\\]/.test(command) || process.platform === "win32") return command;
  const found = findOutsideProjects(command, pathOutsideProjects(env["PATH"] ?? "", [cwd]), [cwd]);
  if (found === undefined) throw new ServerProblem(`it cannot be started: '${command}' is not on the PATH`);
  return found;
}

async function talk(child: ChildProcessWithoutNullStreams): Promise<string[]> {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = async (id: number, method: string, params: object) => {
    send({ id, method, params });
    for (;;) {
      const { value, done } = await lines.next();
      // The exit event follows and says more.
      if (done) return new Promise<never>(() => {});
      const { id: answered, result, error } = parseMessage(value);
      if (answered !== id) continue;
      if (error) throw new ServerProblem(`${method} was answered with an error: ${JSON.stringify(error)}`);
      return result;
    }
  };
  const clientInfo = { name: "octant-setup", version: "1" };
  await ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  const { tools = [] } = (await ask(2, "tools/list", {})) ?? {};
  return tools.map(({ name }) => name);
}

interface Message {
  readonly id?: unknown;
  readonly result?: { readonly tools?: readonly { readonly name: string }[] };
  readonly error?: unknown;
}

function parseMessage(line: string): Message {
  try {
    return JSON.parse(line) as Message; // An MCP message; anything else lacks a requested id.
  } catch {
    throw new ServerProblem(`it printed a line that is not an MCP message: ${line.slice(0, SHOWN_CHARS)}`);
  }
}

/** Never resolves; rejects when the server fails. */
async function failure(
  child: ChildProcessWithoutNullStreams,
  timeout: AbortSignal,
  logged: () => string,
): Promise<never> {
  const tail = () => (logged().trim() ? `: ${logged().trim()}` : "");
  try {
    const [code, signal] = await once(child, "close", { signal: timeout });
    throw new ServerProblem(`it ended with ${signal ?? `exit code ${code}`} before it had answered${tail()}`);
  } catch (cause) {
    if (cause instanceof ServerProblem) throw cause;
    const reason = timeout.aborted
      ? `it did not answer within ${MAX_ANSWER_MS / 1000} seconds${tail()}`
      : `it cannot be started: ${cause instanceof Error ? cause.message : cause}`;
    throw new ServerProblem(reason, { cause });
  }
}

/** A server exits when its stdin closes; kill one that does not. */
async function end(child: ChildProcessWithoutNullStreams): Promise<void> {
  child.stdin.end();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
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
