import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Mount } from "./engines/engine.ts";

const INSTALL = "/opt/octant";
const NODE = "/opt/octant-node";
const SETTINGS = "/etc/octant";
export const CACHE_IN_CONTAINER = "/var/cache/octant";

/** How the tools get into a container: read-only mounts of this install, and the command that serves them. */
export interface InstallInContainer {
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  readonly serverArgv: (path: string) => readonly string[];
}

/** `launcher` is the program that people start; `folder` is for the settings that containers get. */
export function toInstall(launcher: string, folder: string): InstallInContainer {
  const real = realpathSync(launcher);
  const root = rootOf(real);
  const node = realpathSync(process.execPath);
  const isWithin = !relative(root, node).startsWith("..");
  const nodeInside = isWithin ? join(INSTALL, relative(root, node)) : NODE;
  writeSettings(join(folder, "hanzo"));
  return {
    mounts: [
      { source: root, target: INSTALL, readOnly: true },
      { source: folder, target: SETTINGS, readOnly: true },
      ...(isWithin ? [] : [{ source: node, target: NODE, readOnly: true }]),
    ],
    env: { XDG_CONFIG_HOME: SETTINGS, XDG_STATE_HOME: "/tmp/state", XDG_CACHE_HOME: CACHE_IN_CONTAINER },
    serverArgv: (path) => [
      nodeInside,
      join(INSTALL, relative(root, real)),
      "serve",
      "--wire",
      "--root",
      path,
    ],
  };
}

/** The container is the sandbox; another one inside it would be weaker, or not start at all. */
function writeSettings(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  writeFileSync(join(folder, "settings.json"), `${JSON.stringify({ sandbox: { mode: "off" } })}\n`);
}

/** The folder that has the launcher and everything that it imports. */
function rootOf(launcher: string): string {
  for (let folder = dirname(launcher); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, "node_modules", "zod"))) return folder;
  throw new Error(`the packages of ${launcher} were not found`);
}
