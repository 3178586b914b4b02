import type { Path } from "@octant/host";
import type { Data } from "../formats/data.ts";

/**
 * One way in which projects are made: which files mark a package of it, and what such a package says about itself.
 * To add one, write a file in `ecosystems/` and a line in `ecosystems/index.ts`.
 */
export interface Ecosystem {
  readonly name: string;
  /** File names, or `*.ext`. A folder that holds one of them is a package. */
  readonly markers: readonly string[];
  /** Only offers commands; a folder that has nothing but this is no package. */
  readonly tasksOnly?: boolean;
  /** A folder below a package of this ecosystem belongs to that package, whatever markers it has. */
  readonly spansSubfolders?: boolean;
  /** The commands of a workspace's root do for its members, whose own are then left out. */
  readonly rootRunsMembers?: boolean;
  /** Undefined when the marker means something else here and the folder is no package after all. */
  inspect(folder: PackageFolder): Findings | undefined;
}

/** What one folder tells. Paths in it start at the folder; one that leads out of the workspace is dropped. */
export interface Findings {
  readonly name?: string;
  readonly managers?: readonly Manager[];
  readonly build?: readonly Command[];
  readonly test?: readonly TestCommand[];
  readonly frameworks?: readonly string[];
  readonly entryPoints?: readonly EntryPoint[];
  readonly workspaces?: readonly WorkspaceDeclaration[];
}

export interface Manager {
  readonly name: string;
  /** The file that says so. It may stand above the package: a lock file of the whole repository. */
  readonly from: Path;
}

export interface Command {
  readonly name: string;
  /** Program and arguments, to be run in the package's folder. */
  readonly command: readonly string[];
}

export interface TestCommand {
  readonly runner: string;
  readonly command: readonly string[];
}

export interface EntryPoint {
  readonly path: Path;
  readonly kind: "main" | "module" | "library" | "command" | "server";
  /** How a person calls it, where that differs from the file. */
  readonly name?: string;
}

export interface WorkspaceDeclaration {
  readonly tool: string;
  /** Folders or globs from this folder; `!` before one leaves out. None when the tool takes another's. */
  readonly members?: readonly string[];
}

/** A folder with a marker in it, as an ecosystem looks at it. Reading never fails; a broken file is reported once. */
export interface PackageFolder {
  /** Names of the files and links in it. */
  readonly names: ReadonlySet<string>;
  readonly folderNames: ReadonlySet<string>;
  /** The first of these names that is a file here. */
  first(...names: readonly string[]): string | undefined;
  /** Names here with this ending, such as `.csproj`. */
  ending(suffix: string): readonly string[];
  /** Of a file in this very folder; empty when there is none. */
  text(name: string): string;
  json(name: string): Data;
  toml(name: string): Data;
  report(path: Path, message: string): void;
  /** The nearest of these files, here or further up in the workspace. */
  nearest(names: readonly string[]): { readonly name: string; readonly path: Path } | undefined;
  /** Files in it and below, to a small depth, nearest first. */
  filesBelow(): Iterable<Path>;
  hasFile(path: Path): boolean;
}
