import { defineTool } from "@octant/core";
import { index } from "./index-files.ts";
import type { SearchOptions } from "./options.ts";
import { query } from "./query.ts";
import { status } from "./status.ts";

export type { Recalled, RecallRequest, SearchOptions } from "./options.ts";
export { createSourceFiles } from "./source-files.ts";

/** Fused search over the project. */
export const search = (options: SearchOptions) =>
  defineTool({
    name: "search",
    summary: "Find code by meaning, words, names, structure or path.",
    actions: { query: query(options), index: index(options), status: status(options) },
  });
