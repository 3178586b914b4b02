import { ANSWER_BYTES } from "@octant/core";
import { type SourcePlace, searchText, type Workspace } from "@octant/host";

const MAX_PLACES = 1_000;

/** Occurrences of a word in all files that match the globs, in path order. */
export async function findWord(
  workspace: Workspace,
  word: string,
  globs: readonly string[],
  signal: AbortSignal,
): Promise<SourcePlace[]> {
  // Next to a symbol such as `$` ripgrep sees no word boundary.
  const isPlain = /^\w+$/.test(word);
  const search = {
    ...({ pattern: word, fixed: true, word: isPlain, case: "sensitive", globs, context: 0 } as const),
    ...{ limit: MAX_PLACES, maxBytes: ANSWER_BYTES * MAX_PLACES },
  };
  const { matches } = await searchText(workspace, search, { signal });
  return matches.map(({ uri, range }) => ({ path: workspace.confinement.toPath(uri), range }));
}
