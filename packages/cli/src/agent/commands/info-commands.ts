import { createToText, MODES } from "@octant/core";
import { describeRule } from "@octant/runtime";
import { LOCAL_CALLER } from "../../octant.ts";
import { asBlock, type SlashCommand } from "./slash-command.ts";

export const INFO_COMMANDS: readonly SlashCommand[] = [
  {
    name: "permissions",
    summary: "Show the permission rules",
    run(_, { opened: { octant } }) {
      const rules = octant.config.permissions.flatMap(({ tier, rules: own }) =>
        own.map((rule) => `- ${tier}: \`${describeRule(rule)}\``),
      );
      return { text: rules.join("\n") || "there are no rules; what changes something is asked" };
    },
  },
  {
    name: "mode",
    summary: "Show what each mode allows",
    run: (_, { opened: { octant } }) => ({
      text: [
        `mode: ${octant.config.settings.mode ?? "everything is allowed"}; \`octant --mode NAME\` narrows it`,
        ...Object.entries(MODES).map(([name, intents]) => `- **${name}** ${intents.join(", ")}`),
      ].join("\n"),
    }),
  },
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
    summary: "Show or search memories; needs the memory tool (--tools or settings)",
    async run(query, { opened: { octant, agent } }) {
      const call = query === "" ? { action: "manage", input: {} } : { action: "recall", input: { query } };
      const { envelope } = await octant.dispatch(
        { tool: "memory", ...call },
        { caller: { ...LOCAL_CALLER, id: agent.session.id } },
      );
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
      return { text: asBlock(JSON.stringify(envelope.ok ? envelope.data : envelope.error, null, 2), "json") };
    },
  },
  {
    name: "login",
    summary: "Explain how to sign in",
    run: () => ({
      text: "`octant login` in a shell signs in or keeps a key; ANTHROPIC_API_KEY, OPENAI_API_KEY and GEMINI_API_KEY count too",
    }),
  },
  { name: "quit", summary: "Exit", run: () => ({ quit: true }) },
];
