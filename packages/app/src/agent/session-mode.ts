import type { Agent, StampedEvent } from "@octant/agent";
import { textOf } from "@octant/agent";
import { MODES, type Mode } from "@octant/core";
import type { ActiveModes } from "@octant/tools";
import { z } from "zod";

const MARK = "mode";
// Object.keys widens the keys to string.
const Intent = z.enum(Object.keys(MODES) as [Mode]);
const StoredMode = z.object({ mode: z.string().nullable(), intent: Intent.nullable() });

/** Informs a model that it works in a developer mode. */
export const toModePrompt = (name: string, prompt: string): string =>
  `From now on, work in the developer mode ${name}: ${prompt}`;

/** The session continues in its last mode, and its log records each change. */
export function persistMode(
  modes: ActiveModes,
  caller: string,
  agent: Agent,
  events: Iterable<StampedEvent>,
): void {
  const { session } = agent;
  restore(modes, caller, agent, events);
  let isSaved = true;
  const save = async () => {
    isSaved = true;
    const data = { mode: modes.current(caller)?.name ?? null, intent: modes.intent(caller) ?? null };
    await session.append({ type: "mark", name: MARK, data: data satisfies z.output<typeof StoredMode> });
  };
  modes.subscribe((changed) => {
    if (changed !== caller) return;
    isSaved = false;
    // A log that cannot be written ends the next run, which says so.
    if (session.conversation.model) save().catch(() => {});
  });
  session.subscribe(({ type }) => {
    if (type === "session_began" && !isSaved) save().catch(() => {});
  });
}

function restore(modes: ActiveModes, caller: string, agent: Agent, events: Iterable<StampedEvent>): void {
  let last: unknown;
  for (const event of events) if (event.type === "mark" && event.name === MARK) last = event.data;
  const { data } = StoredMode.safeParse(last);
  if (data?.intent) modes.setIntent(caller, data.intent);
  // The settings may have lost it since.
  const mode = modes.all.find(({ name }) => name === data?.mode);
  if (!mode) return;
  modes.activate(caller, mode.name);
  const prompt = toModePrompt(mode.name, mode.prompt);
  const isKnown = agent.session.conversation.messages.some(
    (message) => message.role === "user" && textOf(message.content).includes(prompt),
  );
  if (!isKnown) agent.queue(prompt);
}
