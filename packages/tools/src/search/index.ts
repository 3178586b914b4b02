import { action, defineTool } from "@octant/core";
import { z } from "zod";
import type { SearchOptions } from "./options.ts";
import { IndexState, query } from "./query.ts";

export type { Recalled, RecallRequest, SearchOptions } from "./options.ts";
export { createSourceFiles } from "./source-files.ts";

/** Fused search over the project. */
export const search = (options: SearchOptions) =>
  defineTool({
    name: "search",
    summary: "Find code by meaning, words, names, structure or path.",
    actions: { query: query(options), index: index(options), status: status(options) },
  });

const index = ({ engine }: SearchOptions) =>
  action({
    summary: "Update the search index and keep it current; only changed files are read.",
    access: "read",
    timing: "async_long",
    intent: "inspect",
    input: z.strictObject({}),
    output: z.object({
      files: z.int(),
      read: z.int().describe("Files that had changed"),
      chunks: z.int(),
    }),
    errors: ["UNSUPPORTED", "UPSTREAM_ERROR"],
    examples: [{ title: "Before many queries", input: {} }],
    run: (_, { signal, progress }) => engine.index({ signal, progress }),
  });

const status = ({ engine }: SearchOptions) =>
  action({
    summary: "Show the state of the search index: files, chunks, size and freshness.",
    access: "read",
    timing: "sync",
    intent: "inspect",
    input: z.strictObject({}),
    output: z.object({
      state: IndexState,
      files: z.int().describe("Files in the index"),
      total: z.int().nullable().describe("Files to index; null until counted"),
      chunks: z.int(),
      symbols: z.int(),
      bytes: z.int(),
      embedder: z.string().nullable().describe("null: the word table that comes with Octant"),
    }),
    examples: [{ title: "Check readiness", input: {} }],
    run: () => engine.status(),
  });
