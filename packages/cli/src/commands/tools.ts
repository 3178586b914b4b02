import { styleText } from "node:util";
import { allowedIn } from "@octant/core";
import { createListing, PROFILES } from "@octant/mcp";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT } from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { toTokens } from "../tokens.ts";
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
    await using octant = openOctant(flags, io);
    const listing = createListing({ registry: octant.registry, profile: flags.profile, mode: flags.mode });
    if (flags.json) {
      io.stdout.write(`${JSON.stringify({ tools: listing.tools }, null, 2)}\n`);
      return EXIT.OK;
    }
    const rows = octant.registry.list().flatMap((tool) =>
      Object.entries(tool.actions)
        .filter(([, act]) => allowedIn(flags.mode, act))
        .map(([name, { access, timing, summary }]) => [`${tool.name}.${name}`, access, timing, summary]),
    );
    const [head = "", ...lines] = toColumns([["action", "access", "timing", "summary"], ...rows]);
    io.stdout.write(`${[styleText("dim", head, { stream: io.stdout }), ...lines].join("\n")}\n`);
    io.stdout.write(
      `\ntools/list: ${listing.tools.length} ${listing.tools.length === 1 ? "tool" : "tools"}, about ${toTokens(listing.json)} tokens\n`,
    );
    return EXIT.OK;
  },
});
