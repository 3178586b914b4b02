import { join } from "node:path";
import type { StateFolder } from "../state.ts";
import { createAnnotations } from "./annotations.ts";
import { createArtifacts } from "./artifacts.ts";
import { createContentStore } from "./content-store.ts";
import { createGraph } from "./graph.ts";
import { createRecords } from "./records.ts";
import { createStoreDatabase } from "./store-database.ts";

/** The stored data of a project besides its files. */
export function createProjectStore(state: StateFolder) {
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
