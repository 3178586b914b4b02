export type { Annotation, Annotations } from "./annotations.ts";
export type { Artifact, Artifacts } from "./artifacts.ts";
export { type ContentStore, MAX_CONTENT_BYTES, type StoredContent } from "./content-store.ts";
export { type Connection, DIRECTIONS, type Graph, type Identity } from "./graph.ts";
export { createProjectStore, type ProjectStore } from "./project-store.ts";
