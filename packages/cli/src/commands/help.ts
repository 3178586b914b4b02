import { actionOf, renderAction, renderHelp, toolOf } from "@octant/core";
import { parseName } from "../call-arguments.ts";
import { defineCommand, print } from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { toPlainText } from "../plain-markdown.ts";
import { renderOverview, renderUsage } from "../usage.ts";
import { workspaceFlags } from "../workspace-flags.ts";
import { isCommand, loadCommand, loadCommands } from "./index.ts";

export const help = defineCommand({
  name: "help",
  summary: "Show the manual of a tool, an action or a command",
  arguments: [{ name: "TOPIC", kind: "topic", optional: true }],
  flags: workspaceFlags,
  async run({ args: [topic], flags }, io) {
    if (topic === undefined) return print(renderOverview(await loadCommands(), io.stdout.columns), io);
    if (isCommand(topic)) return print(renderUsage(await loadCommand(topic), io.stdout.columns), io);
    await using octant = await openOctant(flags, io);
    const { tool: name, action } = parseName(topic);
    const tool = toolOf(octant.registry.list(), name);
    const markdown =
      action === undefined ? renderHelp(tool) : renderAction(name, action, actionOf(tool, action));
    return print(toPlainText(markdown, io.stdout), io);
  },
});
