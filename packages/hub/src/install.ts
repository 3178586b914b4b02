import { hash } from "node:crypto";
import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Mount } from "./engines/engine.ts";
import type { Project } from "./projects/project.ts";

const ID_CHARS = 16;
const INSTALL = "/opt/octant";
const NODE = "/opt/octant-node";
export const SETTINGS_IN_CONTAINER = "/etc/octant";
export const CACHE_IN_CONTAINER = "/var/cache/octant";

/** How the tools get into a container: read-only mounts of this install, and the command that serves them. */
export interface InstallInContainer {
  /** Another one when other files are mounted. */
  readonly id: string;
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  /** The path of Node in a container. */
  readonly node: string;
  readonly serverArgv: (path: string) => readonly string[];
}

/** `launcher` is the program that people start. */
export function toInstall(launcher: string): InstallInContainer {
  const real = realpathSync(launcher);
  const root = rootOf(real);
  const node = realpathSync(process.execPath);
  const isWithin = !relative(root, node).startsWith("..");
  const nodeInside = isWithin ? join(INSTALL, relative(root, node)) : NODE;
  const mounts = [
    { source: root, target: INSTALL, readOnly: true },
    ...(isWithin ? [] : [{ source: node, target: NODE, readOnly: true }]),
  ];
  return {
    id: hash("sha256", JSON.stringify(mounts)).slice(0, ID_CHARS),
    mounts,
    env: {
      XDG_CONFIG_HOME: SETTINGS_IN_CONTAINER,
      XDG_STATE_HOME: "/tmp/state",
      XDG_CACHE_HOME: CACHE_IN_CONTAINER,
    },
    node: nodeInside,
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

/**
 * The settings of the tools in a container: the rules of its project, and no other sandbox, which would be weaker there
 * or not start at all.
 */
export function writeContainerSettings(folder: string, { permissions = [], limits }: Project): void {
  const place = join(folder, "hanzo");
  mkdirSync(place, { recursive: true, mode: 0o755 });
  const settings = { sandbox: { mode: "off", confined_by: describeContainer(limits) }, permissions };
  writeFileSync(join(place, "settings.json"), `${JSON.stringify(settings)}\n`);
}

/** What confines commands, for the model. */
function describeContainer({ network, allow_hosts }: Project["limits"]): string {
  const reach = {
    none: "without a network",
    allow: `whose network reaches only ${allow_hosts.join(", ") || "no host"}, through the proxy of HTTPS_PROXY`,
    on: "with a network",
  };
  return `the project's container, ${reach[network]}; it has no keys, and only the workspaces and /tmp are writable`;
}

/** The folder that has the launcher and everything that it imports. */
function rootOf(launcher: string): string {
  for (let folder = dirname(launcher); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, "node_modules", "zod"))) return folder;
  throw new Error(`the packages of ${launcher} were not found`);
}
