import { costOf, textOf, textParts } from "@octant/agent";
import type { SlashContext } from "./slash-command.ts";

/** Asks the session's model one question outside of the conversation. */
export async function askModel(system: string, question: string, context: SlashContext): Promise<string> {
  const { client, octant, agent } = context.opened;
  const messages = [{ role: "user", origin: "person", content: textParts(question) }] as const;
  for await (const event of client.send({ system, tools: [], messages }, context.signal))
    if (event.type === "done") {
      const cost = costOf(event.usage, client.model.price);
      await octant.spending.spend(agent.session.id, { by: "command", turns: 0, usage: event.usage, cost });
      return textOf(event.message.content).trim();
    }
  return "";
}
