import type { Machine } from "./places.ts";

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
export function clientEnvironment({ platform, env }: Machine): Record<string, string> {
  const names = platform === "win32" ? HANDED_ON.win32 : HANDED_ON.posix;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
