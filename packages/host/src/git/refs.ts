import type { Repository } from "./git.ts";

/** The names of branches and tags as people type them, newest first. */
export async function listRefNames(repository: Repository, signal?: AbortSignal): Promise<string[]> {
  const format = "--format=%(symref)%00%(refname)";
  const places = ["refs/heads", "refs/tags", "refs/remotes"];
  const { stdout } = await repository.run(["for-each-ref", "--sort=-creatordate", format, ...places], {
    signal,
  });
  return stdout
    .toString()
    .split("\n")
    .map((line) => line.split("\0"))
    .filter(([target, ref]) => target === "" && ref !== undefined)
    .map(([, ref = ""]) => ref.replace(/^refs\/(heads|tags|remotes)\//, ""));
}
