import { action } from "@octant/core";
import { z } from "zod";
import type { SearchOptions } from "./options.ts";

export const status = ({ engine }: SearchOptions) =>
  action({
    summary: "Show the state of the search index: files, chunks, size and freshness.",
    access: "read",
    timing: "sync",
    intent: "inspect",
    input: z.strictObject({}),
    output: z.object({
      state: z.enum(["empty", "stale", "indexing", "fresh"]),
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
