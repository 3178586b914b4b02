import { action, SchemaPage, schemaPaging, toSchemaPage } from "@octant/core";
import { z } from "zod";
import { About, subjectsOf } from "./manual.ts";
import type { WsOptions } from "./options.ts";

export const schema = ({ registry }: WsOptions) =>
  action({
    summary: "Show the JSON Schema of each action's input and output.",
    access: "read",
    timing: "sync",
    intent: "inspect",
    input: z.strictObject({ tool: About, ...schemaPaging }),
    output: SchemaPage,
    errors: ["UNKNOWN_TOOL", "UNKNOWN_ACTION", "INVALID_CURSOR"],
    examples: [
      { title: "Everything, page by page", input: {} },
      { title: "One action", input: { tool: "ws.detect" } },
    ],
    text: ({ actions }) => ({ body: JSON.stringify(actions) }),
    run({ tool, limit }, ctx) {
      const actions = subjectsOf(registry, tool).map(
        (subject) => [`${subject.tool.name}.${subject.name}`, subject.act] as const,
      );
      return toSchemaPage(actions, limit, ctx);
    },
  });
