import { ToolError } from "@octant/core";
import { type Path, pathToUri } from "../path.ts";
import { noSuchCommit, tryFind } from "./commits.ts";
import type { Repository } from "./git.ts";

/** The largest file of the history that is read. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** The bytes of a file as a commit (or the index, as ":2:path" names it) has it. */
export async function readFileAt(repository: Repository, commit: string, path: Path): Promise<Buffer> {
  const name = `${prefixOf(repository)}${repository.toName(path)}`;
  const { stdout } = await repository.run(["ls-tree", "-z", "--full-tree", commit, "--", name]);
  const [, type, id] = /^\d{6} (\w+) ([0-9a-f]+)\t/.exec(stdout.toString("latin1")) ?? [];
  const uri = pathToUri(path);
  if (id === undefined)
    throw new ToolError("NOT_FOUND", `${uri} is not in ${commit}; vcs.log with path shows where it was`, {
      uri,
    });
  if (type !== "blob") {
    const kind = type === "tree" ? "directory" : "submodule";
    throw new ToolError("NOT_A_FILE", `${uri} is a ${kind} in ${commit}, not a file`, { uri, kind });
  }
  return readBlob(repository, id);
}

/** The object behind a name: a commit, or the bytes of a file. */
export async function findObject(
  repository: Repository,
  name: string,
): Promise<{ readonly commit: string } | { readonly blob: string }> {
  const commit = await tryFind(repository, `${name}^{commit}`);
  if (commit !== undefined) return { commit };
  const blob = await tryFind(repository, `${name}^{blob}`);
  if (blob !== undefined) return { blob };
  throw noSuchCommit(name);
}

export async function readBlob(repository: Repository, id: string): Promise<Buffer> {
  const { stdout } = await repository.run(["cat-file", "blob", id], { maxBytes: MAX_FILE_BYTES });
  return stdout;
}

/** The prefix of the folder in names that are relative to the top. */
const prefixOf = ({ top, folder }: Repository): Path =>
  folder === top ? "" : `${folder.slice(top === "/" ? 1 : top.length + 1)}/`;
