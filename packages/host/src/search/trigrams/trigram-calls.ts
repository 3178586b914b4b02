import type { Path } from "../../path.ts";
import { type Candidates, createFileTable, type FileQuery } from "./file-table.ts";
import { type TreeState, takeTreeState } from "./tree-state.ts";

/** The methods of an index thread. */
export function createTrigramCalls() {
  const table = createFileTable();
  let tree: TreeState | undefined;
  return {
    /** The folders below the root; undefined where files cannot be followed by their stamps. */
    takeTree(root: Path, env: NodeJS.ProcessEnv): readonly Path[] | undefined {
      tree = takeTreeState(root, env);
      return tree?.folders;
    },
    changedFolders: (scope: Path): Path[] | undefined => tree?.changedFolders(scope),
    setFiles: (paths: readonly Path[]): Promise<void> => table.set(paths),
    find: (query: FileQuery): Candidates | "too many" => table.find(query),
  };
}

export type TrigramCalls = ReturnType<typeof createTrigramCalls>;
