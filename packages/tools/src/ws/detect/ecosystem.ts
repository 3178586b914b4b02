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
  readonly managers?: readonly Manager[];
  readonly build?: readonly Command[];
  readonly test?: readonly TestCommand[];
  readonly frameworks?: readonly string[];
  readonly entryPoints?: readonly EntryPoint[];
  readonly workspaces?: readonly WorkspaceDeclaration[];
}

export interface Manager {
  readonly name: string;
  /** The file that states it. It may be above the package, such as a lock file of the whole repository. */
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
  /** The display name, where it differs from the file. */
  readonly name?: string;
}

export interface WorkspaceDeclaration {
  readonly tool: string;
  /** Folders or globs relative to this folder; `!` excludes. Absent when the tool uses another tool's members. */
  readonly members?: readonly string[];
}
