import { z } from "zod";
import { renderAction, renderHelp } from "./help.ts";
import { actionOf, ownAction } from "./lookup.ts";
import { SchemaPage, schemaPaging, toSchemaPage } from "./schema-page.ts";
import { action, BackendStatus, type Tool } from "./tool.ts";

const About = z.strictObject({ about: z.string().optional().describe("An action; default all") });

/** Adds help, schema and status to a tool. The tool's own declarations take precedence. */
export function withBuiltins(tool: Tool): Tool {
  const complete: Tool = { ...tool, actions: { ...tool.actions } };
  const builtins = builtinsOf(complete);
  for (const [name, act] of Object.entries(builtins)) {
    if (!ownAction(complete, name)) complete.actions[name] = act;
  }
  return complete;
}

/** Spelled out so that the typed client knows them on every tool. */
export type Builtins = ReturnType<typeof builtinsOf>;

const builtinsOf = (tool: Tool) => ({
  help: action({
    summary: "Show the manual of this tool, with examples.",
    access: "read",
    timing: "sync",
    intent: "inspect",
    builtin: true,
    input: About,
    output: z.object({ markdown: z.string() }),
    errors: ["UNKNOWN_ACTION"],
    examples: [{ title: "The whole manual", input: {} }],
    run: ({ about }) => ({
      markdown:
        about === undefined ? renderHelp(tool) : renderAction(tool.name, about, actionOf(tool, about)),
    }),
  }),
  schema: action({
    summary: "Show the JSON Schema of each action's input and output.",
    access: "read",
    timing: "sync",
    intent: "inspect",
    builtin: true,
    input: About.extend(schemaPaging),
    output: SchemaPage,
    errors: ["UNKNOWN_ACTION", "INVALID_CURSOR"],
    examples: [{ title: "All actions", input: {} }],
    text: ({ actions }) => ({ body: JSON.stringify(actions) }),
    run: ({ about, limit }, ctx) =>
      toSchemaPage(
        about === undefined ? Object.entries(tool.actions) : [[about, actionOf(tool, about)]],
        limit,
        ctx,
      ),
  }),
  status: action({
    summary: "Show whether the tool is ready, its version and its backends.",
    access: "read",
    timing: "sync",
    intent: "inspect",
    builtin: true,
    input: z.strictObject({}),
    output: z.object({
      enabled: z.boolean(),
      version: z.string(),
      backends: z.array(BackendStatus),
    }),
    examples: [{ title: "Check readiness", input: {} }],
    run: async () => ({
      enabled: true,
      version: tool.version ?? "0",
      backends: [...((await tool.backends?.()) ?? [])],
    }),
  }),
});
