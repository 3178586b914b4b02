import { ANSWER_BYTES } from "@octant/core";
import { type SourcePlace, searchText, type Workspace } from "@octant/host";

const MAX_PLACES = 1_000;

/** Where a word stands, in all files that the globs let through, in the order of their paths. */
export async function findWord(
  workspace: Workspace,
  word: string,
  globs: readonly string[],
  signal: AbortSignal,
): Promise<SourcePlace[]> {
  // A name that ends in a sign, such as `$`, has no border there that ripgrep would take for the end of a word.
  const isPlain = /^\w+$/.test(word);
  const search = {
    ...({ pattern: word, fixed: true, word: isPlain, case: "sensitive", globs, context: 0 } as const),
    ...{ limit: MAX_PLACES, maxBytes: ANSWER_BYTES * MAX_PLACES },
  };
  const { matches } = await searchText(workspace, search, { signal });
  return matches.map(({ uri, range }) => ({ path: workspace.confinement.toPath(uri), range }));
}
