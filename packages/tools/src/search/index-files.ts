import { action } from "@octant/core";
import { z } from "zod";
import type { SearchOptions } from "./options.ts";

export const index = ({ engine }: SearchOptions) =>
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
