import { invalidArgument, toOneLine } from "@octant/core";
import type { McpServers, ServerPrompt } from "@octant/mcp-client";
import type { SlashCommand } from "./slash-command.ts";

/** The prompts of MCP servers as `/server:prompt`; the prompt's text is sent to the model. */
export const promptCommands = (servers: Pick<McpServers, "prompts" | "prompt">): readonly SlashCommand[] =>
  servers.prompts().map((prompt) => toCommand(prompt, servers));

function toCommand(about: ServerPrompt, servers: Pick<McpServers, "prompt">): SlashCommand {
  const { server, prompt, description, arguments: known } = about;
  const shown = known.map(({ name, required }) => (required ? `${name}=…` : `[${name}=…]`)).join(" ");
  return {
    name: `${server}:${prompt}`,
    ...(shown !== "" && { argument: shown }),
    summary: toOneLine(description) || `A prompt of the MCP server ${server}`,
    complete: () => known.map(({ name }) => `${name}=`),
    async run(argument, { signal }) {
      const { content } = await servers.prompt(server, prompt, parseValues(argument, about), signal);
      const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
      return { send: text };
    },
  };
}

/**
 * Parses `name=value` words, with quotes around values with spaces; a prompt with one argument also accepts
 * plain text.
 */
function parseValues(argument: string, { server, prompt, arguments: known }: ServerPrompt) {
  const [only] = known;
  const isPlain = known.length === 1 && only && !argument.startsWith(`${only.name}=`);
  const values: Record<string, string> =
    isPlain && argument !== ""
      ? { [only.name]: argument }
      : Object.fromEntries(
          [...argument.matchAll(/([^\s=]+)=(?:"([^"]*)"|(\S*))/g)].map(
            ([, name = "", quoted, plain = ""]) => [name, quoted ?? plain],
          ),
        );
  const missing = known.filter(({ name, required }) => required && values[name] === undefined);
  if (missing.length === 0) return values;
  throw invalidArgument("", `/${server}:${prompt} needs ${missing.map(({ name }) => `${name}=…`).join(" ")}`);
}
