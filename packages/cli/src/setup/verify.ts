import { listTools } from "./ask-server.ts";
import type { Start } from "./entry.ts";
import type { Machine } from "./places.ts";
import type { Target } from "./plan.ts";

/** Starts the server as the client would and lists its tools; throws a ServerProblem when that fails. */
export function tryStart(start: Start, target: Target, machine: Machine): Promise<string[]> {
  return listTools(asStarted(start, target, machine));
}

/** Replaces the client's placeholders, and uses its working folder and environment. */
export function asStarted(
  start: Start,
  { client, scope }: Target,
  machine: Machine,
): Start & { cwd: string } {
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
