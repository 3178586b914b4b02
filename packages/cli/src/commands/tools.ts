import { allowedIn, counted, createListing, PROFILES, toTokens } from "@octant/core";
import { toColumns } from "../columns.ts";
import { defineCommand, print, printJson } from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { painted } from "../output.ts";
import { workspaceFlags } from "../workspace-flags.ts";

export const tools = defineCommand({
  name: "tools",
  summary: "List the tools with their actions and their cost in tokens",
  flags: {
    ...workspaceFlags,
    profile: {
      summary: "The profile, as for serve",
      value: "PROFILE",
      choices: PROFILES,
      env: "OCTANT_PROFILE",
    },
    json: { summary: "Print the tools/list result that clients receive" },
  },
  async run({ flags }, io) {
    await using octant = await openOctant(flags, io);
    const listing = createListing({ registry: octant.registry, profile: flags.profile, mode: flags.mode });
    if (flags.json) return printJson({ tools: listing.tools }, io);
    const rows = octant.registry.list().flatMap((tool) =>
      Object.entries(tool.actions)
        .filter(([, act]) => allowedIn(flags.mode, act))
        .map(([name, { access, timing, summary }]) => [`${tool.name}.${name}`, access, timing, summary]),
    );
    const [head = "", ...lines] = toColumns([["action", "access", "timing", "summary"], ...rows]);
    const sum = `tools/list: ${counted(listing.tools.length, "tool")}, about ${toTokens(JSON.stringify(listing.tools))} tokens`;
    return print([painted("dim", head, io.stdout), ...[...lines, "", sum].map((line) => `\n${line}`)], io);
  },
});
