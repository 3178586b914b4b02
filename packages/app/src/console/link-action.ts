import { action, ToolError } from "@octant/core";
import { z } from "zod";
import { CHANGE } from "./kinds.ts";
import type { ConsoleParts } from "./parts.ts";

export const link = (parts: ConsoleParts) =>
  action({
    summary: "Make a new one-time link to the console of this process.",
    ...CHANGE,
    access: "admin",
    input: z.strictObject({}),
    output: z.object({ url: z.string() }),
    errors: ["NOT_FOUND"],
    examples: [{ title: "A link", input: {}, fails: "NOT_FOUND" }],
    run() {
      const url = parts.link();
      if (url === undefined) throw new ToolError("NOT_FOUND", "this process serves no console", {});
      return { url };
    },
  });
