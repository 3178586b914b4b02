import type { Path } from "@octant/host";
import type { PackageFolder } from "./package-folder.ts";

export type { PackageFolder };

/**
 * A build ecosystem: the files that mark a package, and how to inspect one. To add one, write a file in `ecosystems/`
 * and a line in `ecosystems/index.ts`.
 */
export interface Ecosystem {
  readonly name: string;
  /** File names, or `*.ext`. A folder that contains one of them is a package. */
  readonly markers: readonly string[];
  /** Only provides commands; a folder with nothing else is not a package. */
  readonly tasksOnly?: boolean;
  /** A folder below a package of this ecosystem belongs to that package, whatever markers it has. */
  readonly spansSubfolders?: boolean;
  /** The commands of a workspace's root cover its members, whose own are then omitted. */
  readonly rootRunsMembers?: boolean;
  /** For a project in which no folder has a marker of any ecosystem. */
  inspectUnmarked?(folder: PackageFolder): Findings | undefined;
  /** undefined when the marker means something else here and the folder is not a package. */
  inspect(folder: PackageFolder): Findings | undefined;
}

/** The findings in one folder. Paths are relative to the folder; one outside the workspace is dropped. */
export interface Findings {
  readonly name?: string;
  /** By name, the file that states it. It may be above the package, such as a lock file of the whole repository. */
  readonly managers?: Readonly<Record<string, Path>>;
  readonly build?: Commands;
  /** By runner. */
  readonly test?: Commands;
  readonly frameworks?: readonly string[];
  readonly entryPoints?: readonly EntryPoint[];
  /**
   * By tool, folders or globs relative to this folder; `!` excludes. Empty when the tool uses another tool's members.
   */
  readonly workspaces?: Readonly<Record<string, readonly string[]>>;
}

/** Names with program and arguments, to be run in the package's folder. */
export type Commands = readonly (readonly [name: string, command: readonly string[]])[];

/** Commands written as one line each; no argument holds a space. */
export const toCommands = (lines: Readonly<Record<string, string | false | undefined>>): Commands =>
  Object.entries(lines).flatMap(([name, line]) => (line ? [[name, line.split(" ")] as const] : []));

/** Each script under its own name, run by these words. */
export const toScripts = (names: readonly string[], ...words: readonly string[]): Commands =>
  names.map((name) => [name, [...words, name]]);

export interface EntryPoint {
  readonly path: Path;
  readonly kind: "main" | "module" | "library" | "command" | "server";
  /** The display name, where it differs from the file. */
  readonly name?: string;
}

export const entryPointsAt = (kind: EntryPoint["kind"], paths: readonly Path[]): EntryPoint[] =>
  paths.map((path) => ({ path, kind }));

/** A declaration without members declares nothing. */
export const workspaceOf = (tool: string, members: readonly string[]): Findings["workspaces"] =>
  members.length > 0 ? { [tool]: members } : {};
