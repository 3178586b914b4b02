import type { Agent, StampedEvent } from "@octant/agent";
import { textOf } from "@octant/agent";
import { isSessionMode, MODES, type Mode, type SessionMode } from "@octant/core";
import type { ActiveModes } from "@octant/tools";
import { z } from "zod";
import type { Octant } from "../octant-api.ts";

const MARK = "mode";
const StoredMode = z.object({ mode: z.string().nullable(), session: z.string().optional() });

/** The mode in one line; where the sandbox does not confine commands, it says that they are asked about. */
export async function describeMode(octant: Pick<Octant, "workspace">, mode: SessionMode): Promise<string> {
  const { summary } = MODES[mode];
  if (mode !== "sandbox") return `mode: ${mode}. ${summary}`;
  const unconfined = await octant.workspace.sandbox.unconfined();
  return `mode: sandbox. ${unconfined ? `No sandbox confines commands here, so each is asked about: ${unconfined.reason}` : summary}`;
}

/** Checked before a call leaves this process: a host elsewhere does not know the mode of the session. */
export const modeOf = ({ fixedMode, modes }: Octant, caller: string): Mode =>
  fixedMode ?? modes.session(caller);

/** Informs a model that it works in a developer mode. */
export const toModePrompt = (name: string, prompt: string): string =>
  `From now on, work in the developer mode ${name}: ${prompt}`;

/** The session continues in its last mode, and its log records each change. */
export function persistMode(
  modes: ActiveModes,
  caller: string,
  agent: Agent,
  events: Iterable<StampedEvent>,
  /** Given at the start, it counts instead of the last one. */
  given: SessionMode | undefined,
): void {
  const { session } = agent;
  restore(modes, caller, agent, events);
  if (given) modes.setSession(caller, given);
  let isSaved = true;
  const save = async () => {
    isSaved = true;
    const data = { mode: modes.current(caller)?.name ?? null, session: modes.session(caller) };
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
  if (isSessionMode(data?.session)) modes.setSession(caller, data.session);
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
