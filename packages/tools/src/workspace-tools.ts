/** Tools that need only the workspace: each export takes it and returns a tool of the same name. */
export { annotation } from "./store/annotation.ts";
export { artifact } from "./store/artifact.ts";
export { cas } from "./store/cas.ts";
export { graph } from "./store/graph.ts";
