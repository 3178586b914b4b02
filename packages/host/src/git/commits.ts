import { ToolError } from "@octant/core";
import type { Repository } from "./git.ts";

/** The commit that a name means: a branch, tag, hash, HEAD~2 … */
export async function findCommit(repository: Repository, name: string): Promise<string> {
  const found = await tryFind(repository, `${name}^{commit}`);
  if (found !== undefined) return found;
  throw noSuchCommit(name);
}

/** The commit that HEAD is at; undefined on a branch without commits. */
export const findHead = (repository: Repository): Promise<string | undefined> => tryFind(repository, "HEAD");

/** The id of any object that a name means. */
export async function tryFind(repository: Repository, name: string): Promise<string | undefined> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
  const { code, stdout } = await repository.run(args, { codes: [0, 1, 128] });
  return code === 0 ? stdout.toString().trim() : undefined;
}

export const noSuchCommit = (name: string) =>
  new ToolError(
    "NOT_FOUND",
    `there is no commit '${name}'; vcs.log and vcs.branch list commits and branches`,
    {
      id: name,
    },
  );

/** The id of the tree without files, which every repository knows. */
export async function emptyTree(repository: Repository): Promise<string> {
  const { stdout } = await repository.run(["hash-object", "-t", "tree", "--stdin"]);
  return stdout.toString().trim();
}
