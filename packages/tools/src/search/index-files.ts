import { action } from "@octant/core";
import { z } from "zod";
import type { SearchOptions } from "./options.ts";

export const index = ({ engine }: SearchOptions) =>
  action({
    summary: "Bring the search index up to date, and keep it so; only what has changed is read.",
    access: "read",
    timing: "async_long",
    intent: "inspect",
    input: z.strictObject({}),
    output: z.object({
      files: z.int(),
      read: z.int().describe("How many of them had changed"),
      chunks: z.int(),
    }),
    errors: ["UNSUPPORTED", "UPSTREAM_ERROR"],
    examples: [{ title: "Before many questions", input: {} }],
    run: (_, { signal, progress }) => engine.index({ signal, progress }),
  });
