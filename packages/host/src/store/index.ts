export type { Annotation } from "./annotations.ts";
export type { Artifact } from "./artifacts.ts";
export type { StoredContent } from "./content-store.ts";
export { DIRECTIONS, type Identity } from "./graph.ts";
export { createProjectStore, type ProjectStore } from "./project-store.ts";
