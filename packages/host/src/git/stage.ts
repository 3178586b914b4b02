import type { Repository } from "./git.ts";

/** The arguments with which git takes the names of `listChanged` as input and stages them. */
export const STAGE = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"] as const;

/**
 * The names of changed, deleted and new files, each with a NUL at its end. For STAGE: `git add --all` would start git
 * in nested repositories, under the settings of those.
 */
export async function listChanged(repository: Repository): Promise<Buffer> {
  const { stdout } = await repository.run([
    ...["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"],
  ]);
  // Latin-1 preserves every byte.
  const names = stdout.toString("latin1").split("\0");
  // A name that ends in a slash is a nested repository that is not tracked.
  const files = names.filter((name) => name !== "" && !name.endsWith("/"));
  return Buffer.from(files.map((name) => `${name}\0`).join(""), "latin1");
}
