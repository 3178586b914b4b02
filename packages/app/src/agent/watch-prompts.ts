import { textOf } from "@octant/agent";
import type { OpenedAgent } from "./open-agent.ts";
import { listPrompts } from "./turns.ts";

/** The person's messages, oldest first. */
export function watchPrompts({ agent, sessions }: OpenedAgent): () => readonly string[] {
  let stored: readonly string[] = [];
  const sent: string[] = [];
  const from = agent.session.conversation.model ? sessions.events(agent.session.id) : [];
  void Array.fromAsync(from).then((events) => {
    stored = listPrompts(events).map(({ text }) => text);
  });
  agent.subscribe((event) => {
    if (event.type === "user" && event.origin === "person") sent.push(textOf(event.content.slice(0, 1)));
  });
  return () => [...stored, ...sent];
}
