import type { Path } from "../path.ts";
import type { Repository } from "./git.ts";
import { findOperation, type Operation } from "./operation.ts";
import { type HeadState, parseStatus, type StatusEntry } from "./parse-status.ts";

export interface Status extends HeadState {
  readonly operation: Operation | null;
  readonly entries: readonly StatusEntry[];
}

export interface StatusOptions {
  readonly path?: Path;
  readonly ignored?: boolean;
  /** Whether each file in a new folder is listed, not just the folder. */
  readonly everyFile?: boolean;
}

export async function readStatus(repository: Repository, options: StatusOptions = {}): Promise<Status> {
  const { path, ignored = false, everyFile = false } = options;
  const args = [
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--ahead-behind",
    "--find-renames",
    "--no-show-stash",
    `--untracked-files=${everyFile ? "all" : "normal"}`,
    // Looking into a submodule would start git there, under that repository's own config.
    "--ignore-submodules=dirty",
    ...(ignored ? ["--ignored=matching"] : []),
  ];
  const limited = path === undefined ? limitTo(repository) : ["--", repository.toName(path)];
  const { stdout } = await repository.run([...args, ...limited]);
  return { ...parseStatus(stdout, repository.top), operation: findOperation(repository) };
}

/** Files above the root do not belong to the workspace. */
const limitTo = ({ top, folder }: Repository): string[] => (top === folder ? [] : ["--", "."]);
