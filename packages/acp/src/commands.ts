import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { Agent, UserPart } from "@octant/agent";

interface SlashCommand extends AvailableCommand {
  /** Returns what the person is told. */
  run(agent: Agent, signal: AbortSignal): Promise<string>;
}

const COMMANDS: readonly SlashCommand[] = [
  {
    name: "compact",
    description: "Summarize the conversation so far to free context",
    run: async (agent, signal) =>
      (await agent.compact(signal)) ? "The conversation was compacted." : "There is nothing to compact yet.",
  },
];

export const AVAILABLE_COMMANDS: readonly AvailableCommand[] = COMMANDS.map(({ name, description }) => ({
  name,
  description,
}));

/** The command that a prompt consists of; undefined for a message to the model. */
export function findCommand(parts: readonly UserPart[]): SlashCommand | undefined {
  const [first, ...rest] = parts;
  if (first?.type !== "text" || rest.length > 0) return undefined;
  return COMMANDS.find(({ name }) => first.text.trim() === `/${name}`);
}
