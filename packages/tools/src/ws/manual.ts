import {
  ANSWER_BYTES,
  ANSWER_MARGIN_BYTES,
  action,
  actionOf,
  type Registry,
  renderAction,
  renderHelp,
  SchemaPage,
  schemaPaging,
  type Tool,
  toolOf,
  toSchemaPage,
} from "@octant/core";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import type { WsOptions } from "./options.ts";

/** The parameter of help and schema: MCP's flat schema reserves `action` for the called action. */
const About = z
  .string()
  .min(1)
  .max(100)
  .optional()
  .describe("A tool, or an action such as fs.read; default all");

export const help = ({ registry }: WsOptions) =>
  action({
    summary: "Show the manual: all tools in brief, one tool, or one action with parameters and examples.",
    ...INSPECT,
    input: z.strictObject({ tool: About }),
    output: z.object({ markdown: z.string() }),
    errors: ["UNKNOWN_TOOL", "UNKNOWN_ACTION"],
    examples: [
      { title: "All tools in brief", input: {} },
      { title: "One action", input: { tool: "ws.detect" } },
    ],
    run: ({ tool }) => ({ markdown: withinBudget(manualOf(registry, tool)) }),
  });

function manualOf(registry: Registry, about: string | undefined): string {
  if (about === undefined) return overview(registry);
  const { tools, name } = parseAbout(registry, about);
  const [tool] = tools as readonly [Tool];
  return name === undefined ? renderHelp(tool) : renderAction(tool.name, name, actionOf(tool, name));
}

const overview = (registry: Registry): string =>
  registry
    .list()
    .map((tool) => {
      const actions = Object.entries(tool.actions).map(([name, { summary }]) => `- \`${name}\` ${summary}`);
      return [`## ${tool.name}: ${tool.summary}`, ...actions].join("\n");
    })
    .join("\n\n");

/** Cuts between two sections, so that the rest reads well. */
function withinBudget(markdown: string): string {
  const budget = ANSWER_BYTES - ANSWER_MARGIN_BYTES;
  if (Buffer.byteLength(JSON.stringify(markdown)) <= budget) return markdown;
  const sections: string[] = [];
  let size = 0;
  for (const section of markdown.split("\n\n")) {
    size += Buffer.byteLength(JSON.stringify(section)) + 2;
    if (size > budget) break;
    sections.push(section);
  }
  return [...sections, "The rest does not fit; ask for one action, as in `tool: fs.read`."].join("\n\n");
}

export const schema = ({ registry }: WsOptions) =>
  action({
    summary: "Show the JSON Schema of each action's input and output.",
    ...INSPECT,
    input: z.strictObject({ tool: About, ...schemaPaging }),
    output: SchemaPage,
    errors: ["UNKNOWN_TOOL", "UNKNOWN_ACTION", "INVALID_CURSOR"],
    examples: [
      { title: "Everything, page by page", input: {} },
      { title: "One action", input: { tool: "ws.detect" } },
    ],
    text: ({ actions }) => ({ body: JSON.stringify(actions) }),
    run({ tool, limit }, ctx) {
      const { tools, name: only } = parseAbout(registry, tool);
      const actions = tools.flatMap((one) =>
        (only === undefined ? Object.keys(one.actions) : [only]).map(
          (name) => [`${one.name}.${name}`, actionOf(one, name)] as const,
        ),
      );
      return toSchemaPage(actions, limit, ctx);
    },
  });

/** The tools asked about, in the registry's order, and the action; or the typed error that lists the valid names. */
function parseAbout(
  registry: Registry,
  about: string | undefined,
): { tools: readonly Tool[]; name?: string } {
  if (about === undefined) return { tools: registry.list() };
  const [tool = "", ...rest] = about.split(".");
  const tools = [toolOf(registry.list(), tool)];
  return rest.length > 0 ? { tools, name: rest.join(".") } : { tools };
}
