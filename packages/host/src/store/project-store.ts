import { join } from "node:path";
import type { StateFolder } from "../state.ts";
import { type Annotations, createAnnotations } from "./annotations.ts";
import { type Artifacts, createArtifacts } from "./artifacts.ts";
import { type ContentStore, createContentStore } from "./content-store.ts";
import { createGraph, type Graph } from "./graph.ts";
import { createRecords, type Records } from "./records.ts";
import { createStoreDatabase } from "./store-database.ts";

/** The stored data of a project besides its files. */
export interface ProjectStore {
  readonly content: ContentStore;
  readonly artifacts: Artifacts;
  readonly annotations: Annotations;
  readonly graph: Graph;
  readonly records: Records;
  close(): void;
}

export function createProjectStore(state: StateFolder): ProjectStore {
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
