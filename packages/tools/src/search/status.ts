import { action } from "@octant/core";
import { z } from "zod";
import type { SearchOptions } from "./options.ts";

export const status = ({ engine }: SearchOptions) =>
  action({
    summary: "How far the search index is: files, chunks, size, and whether it is up to date.",
    access: "read",
    timing: "sync",
    intent: "inspect",
    input: z.strictObject({}),
    output: z.object({
      state: z.enum(["empty", "stale", "indexing", "fresh"]),
      files: z.int(),
      chunks: z.int(),
      symbols: z.int(),
      bytes: z.int(),
      embedder: z.string().nullable().describe("null: meaning is learned from the project"),
    }),
    examples: [{ title: "Is it ready?", input: {} }],
    run: () => engine.status(),
  });
