import { createToText, ToolError } from "@octant/core";
import { LOCAL_CALLER } from "../../octant.ts";
import { mode } from "./mode-command.ts";
import { permissions } from "./permission-command.ts";
import { asBlock, type SlashCommand } from "./slash-command.ts";

export const INFO_COMMANDS: readonly SlashCommand[] = [
  permissions,
  mode,
  {
    name: "mcp",
    summary: "List the MCP servers in the settings",
    run(_, { opened: { octant } }) {
      const servers = Object.entries(octant.config.settings.mcp_servers).map(([name, server]) => {
        const where = "url" in server ? server.url : server.command;
        return `- **${name}** \`${where}\`${server.disabled ? " (disabled)" : ""}`;
      });
      return {
        text: servers.join("\n") || "no MCP servers are set; `mcp_servers` in the settings names them",
      };
    },
  },
  {
    name: "memory",
    argument: "[QUERY]",
    summary: "Show or search memories",
    async run(query, { opened: { octant, agent } }) {
      const call = query === "" ? { action: "manage", input: {} } : { action: "recall", input: { query } };
      const { envelope } = await octant.dispatch(
        { tool: "memory", ...call },
        { caller: { ...LOCAL_CALLER, id: agent.session.id } },
      );
      if (!envelope.ok)
        throw new ToolError(envelope.error.code, envelope.error.message, envelope.error.details);
      return { text: asBlock(createToText(octant.registry, [])(envelope)) };
    },
  },
  {
    name: "jobs",
    summary: "List jobs of this workspace",
    async run(_, { opened: { octant, agent } }) {
      const { envelope } = await octant.dispatch(
        { tool: "job", action: "list", input: {} },
        { caller: { ...LOCAL_CALLER, id: agent.session.id } },
      );
      if (!envelope.ok)
        throw new ToolError(envelope.error.code, envelope.error.message, envelope.error.details);
      return { text: asBlock(createToText(octant.registry, [])(envelope)) };
    },
  },
  {
    name: "login",
    summary: "Explain how to sign in",
    run: () => ({
      text: "`octant login` in a shell signs in or keeps a key; ANTHROPIC_API_KEY, OPENAI_API_KEY and GEMINI_API_KEY count too",
    }),
  },
  { name: "quit", onlyInTerminal: true, summary: "Exit", run: () => ({ quit: true }) },
];
