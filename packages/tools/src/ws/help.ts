import {
  ANSWER_BYTES,
  ANSWER_MARGIN_BYTES,
  action,
  actionOf,
  type Registry,
  renderAction,
  renderHelp,
} from "@octant/core";
import { z } from "zod";
import { About, parseAbout } from "./manual.ts";
import type { WsOptions } from "./options.ts";

export const help = ({ registry }: WsOptions) =>
  action({
    summary: "Show the manual: all tools in brief, one tool, or one action with parameters and examples.",
    access: "read",
    timing: "sync",
    intent: "inspect",
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
  const { tool, name } = parseAbout(registry, about);
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
