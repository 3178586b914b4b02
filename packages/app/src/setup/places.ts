import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, posix, win32 } from "node:path";
import type { Client, Scope } from "./clients.ts";

type Platform = "linux" | "darwin" | "win32";

/** The facts about a machine that decide where files are. */
export interface Machine {
  readonly platform: Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /** The project folder. */
  readonly cwd: string;
}

/** Platforms other than macOS and Windows use the locations of Linux. */
export function thisMachine(env: NodeJS.ProcessEnv, cwd: string): Machine {
  const { platform } = process;
  const home = env[platform === "win32" ? "USERPROFILE" : "HOME"] || homedir();
  return {
    platform: platform === "win32" || platform === "darwin" ? platform : "linux",
    env,
    home,
    cwd,
  };
}

/** The client's file for this scope; undefined when it has none. */
export function fileOf({ files }: Client, scope: Scope, machine: Machine): string | undefined {
  const candidates =
    scope === "user"
      ? files.user.map((path) => resolvePath(path, machine))
      : files.project?.map((path) => pathOf(machine).join(machine.cwd, path));
  return candidates?.find((path) => existsSync(path)) ?? candidates?.[0];
}

export function isInstalled({ foundBy }: Client, machine: Machine): boolean {
  const paths = foundBy.paths.map((path) => resolvePath(path, machine));
  return [...paths, ...programsOnPath(foundBy.program, machine)].some((path) => existsSync(path));
}

/** All files with that name on the PATH, in order. */
export function programsOnPath(name: string, machine: Machine): string[] {
  const { platform, env } = machine;
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter(Boolean);
  const endings = platform === "win32" ? [".exe", ".cmd", ".bat"] : [""];
  return folders
    .flatMap((folder) => endings.map((ending) => pathOf(machine).join(folder, name + ending)))
    .filter((path) => existsSync(path));
}

const pathOf = ({ platform }: Machine) => (platform === "win32" ? win32 : posix);

function resolvePath(template: string, machine: Machine): string {
  const { env, home, platform } = machine;
  const { join } = pathOf(machine);
  const config = env["XDG_CONFIG_HOME"] || join(home, ".config");
  const appdata = env["APPDATA"] || join(home, "AppData", "Roaming");
  const support = { linux: config, darwin: join(home, "Library", "Application Support"), win32: appdata };
  const zed = {
    linux: join(config, "zed"),
    darwin: join(home, ".config", "zed"),
    win32: join(appdata, "Zed"),
  };
  const folders: Readonly<Record<string, string>> = {
    home,
    config,
    support: support[platform],
    zed: zed[platform],
    claude: env["CLAUDE_CONFIG_DIR"] || home,
    codex: env["CODEX_HOME"] || join(home, ".codex"),
  };
  return join(template.replace(/^\{(\w+)\}/, (_, name: string) => folders[name] ?? ""));
}
