import type { AgentEvent } from "@octant/agent";

/** The event, with Octant's commands in its text as the person has to type them. */
export function toTypedEvent<E extends AgentEvent>(event: E, asTyped: (text: string) => string): E {
  if (event.type === "notice") return { ...event, text: asTyped(event.text) };
  return event.type === "end" && event.message !== undefined
    ? { ...event, message: asTyped(event.message) }
    : event;
}
