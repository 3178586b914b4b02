import { hash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { attempt } from "@octant/core";
import { replaceFile } from "@octant/host";
import type { Mount } from "./engines/engine.ts";
import type { Project } from "./projects/project.ts";

const ID_CHARS = 16;
const INSTALL = "/opt/octant";
const NODE = "/opt/octant-node";
export const SETTINGS_IN_CONTAINER = "/etc/octant";
export const CACHE_IN_CONTAINER = "/var/cache/octant";

/** The command in a container that serves the tools of a folder on its stdin and stdout. */
export interface ToolsCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How the tools get into a container: read-only mounts of this install, and the command that serves them. */
export interface InstallInContainer {
  /** Changes when other files are mounted. */
  readonly id: string;
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  /** The path of Node in a container. */
  readonly node: string;
  readonly toolsOf: (path: string) => ToolsCommand;
}

const STATE = ".state";

/**
 * The state of a workspace's tools, such as undo and memories: beside the workspace, because other folders of a container
 * end with it. `path` is of the workspace, in the container or outside.
 */
export const stateOf = (path: string): string => join(dirname(path), STATE, basename(path));

/** `launcher` is the program that people start. */
export function toInstall(launcher: string): InstallInContainer {
  const real = realpathSync(launcher);
  const root = rootOf(real);
  const node = realpathSync(process.execPath);
  const parts = partsOf(root, packageOf(real));
  const hasNode = parts.some((part) => isWithin(join(root, part), node));
  const nodeInside = hasNode ? join(INSTALL, relative(root, node)) : NODE;
  const mounts = [
    ...parts.map((part) => ({ source: join(root, part), target: join(INSTALL, part), readOnly: true })),
    ...(hasNode ? [] : [{ source: node, target: NODE, readOnly: true }]),
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
    toolsOf: (path) => ({
      argv: [nodeInside, join(INSTALL, relative(root, real)), "serve", "--wire", "--root", path],
      env: { XDG_STATE_HOME: stateOf(path) },
    }),
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
  // The tools of another session may read them at this moment.
  replaceFile(join(place, "settings.json"), `${JSON.stringify(settings)}\n`, { mode: 0o644 });
}

/** Describes the confinement of commands to the model. */
function describeContainer({ network, allow_hosts }: Project["limits"]): string {
  const reach = {
    none: "without a network",
    allow: `whose network reaches only ${allow_hosts.join(", ") || "no host"}, through the proxy of HTTPS_PROXY`,
    on: "with a network",
  };
  return `the project's container, ${reach[network]}; it has no keys, and only the workspaces and /tmp are writable`;
}

/** The folder that has the launcher and everything that it imports; it may have files of the person, too. */
function rootOf(launcher: string): string {
  for (const folder of foldersAbove(launcher))
    if (existsSync(join(folder, "node_modules", "zod"))) return folder;
  throw new Error(`the packages of ${launcher} were not found`);
}

/** The folder of the package that has the launcher. */
function packageOf(launcher: string): string {
  for (const folder of foldersAbove(launcher)) if (existsSync(join(folder, "package.json"))) return folder;
  throw new Error(`the package of ${launcher} was not found`);
}

function* foldersAbove(file: string): Generator<string> {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) yield folder;
}

/**
 * The paths below the root that a container needs: all of it where it is our package, which has its packages inside;
 * otherwise its packages alone, because a person may have installed Octant in a project or in the home folder.
 */
function partsOf(root: string, ours: string): readonly string[] {
  if (ours === root) return ["."];
  const packages = join(root, "node_modules");
  if (isWithin(packages, ours)) return ["node_modules"];
  // A checkout, whose own packages are links out of node_modules.
  const scope = join(packages, "@octant");
  const links = readdirSync(scope).map((name) => attempt(() => realpathSync(join(scope, name))));
  const folders = [ours, ...links].flatMap((path) => {
    const [first = ""] = path !== undefined && isWithin(root, path) ? relative(root, path).split(sep) : [];
    return first === "" ? [] : [first];
  });
  return [...new Set(["node_modules", ...folders])];
}

const isWithin = (folder: string, path: string): boolean => !relative(folder, path).startsWith("..");
