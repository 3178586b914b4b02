import { join } from "node:path";
import { ownerOf } from "@octant/core";
import type { StateFolder } from "../state.ts";
import { createAnnotations } from "./annotations.ts";
import { createArtifacts } from "./artifacts.ts";
import { createContentStore } from "./content-store.ts";
import { createGraph } from "./graph.ts";
import { createRecords } from "./records.ts";
import { createStoreDatabase } from "./store-database.ts";

export type ProjectStore = ReturnType<typeof createProjectStore>;

/** The store of the project, and one for each owner of the bridge. */
export function createProjectStores(state: StateFolder) {
  const shared = createProjectStore(state);
  const owned = new Map<string, ProjectStore>();
  return {
    records: shared.records,
    /** The store that a caller sees. */
    of(callerId: string): ProjectStore {
      const owner = ownerOf(callerId);
      if (owner === undefined) return shared;
      const folder = (name: string) => state.folder(`owner-stores/${owner}/${name}`);
      const store = owned.get(owner) ?? createProjectStore({ folder });
      owned.set(owner, store);
      return store;
    },
    close() {
      for (const store of [shared, ...owned.values()]) store.close();
    },
  };
}

/** Stored data besides the project's files. */
function createProjectStore(state: Pick<StateFolder, "folder">) {
  const db = createStoreDatabase(() => join(state.folder("store"), "store.sqlite"));
  return {
    content: createContentStore(() => state.folder("content")),
    artifacts: createArtifacts(db),
    annotations: createAnnotations(db),
    graph: createGraph(db),
    records: createRecords(db),
    close: db.close,
  };
}
