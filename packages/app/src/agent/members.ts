import type { Crew, MemberInfo, MemberListener, SessionStore, StampedEvent } from "@octant/agent";
import type { OpenedAgent } from "./open-agent.ts";

/**
 * Follows the sub-agents of a session. They exist from the first one on, which the model starts, or a command of the
 * person: `expect` is called before a command runs.
 */
export function followMembers(
  { agent, octant }: Pick<OpenedAgent, "agent" | "octant">,
  listener: MemberListener,
) {
  let crew: Crew | undefined;
  const expect = () => {
    octant.crew().then(
      (found) => {
        if (!crew) found.subscribe(listener);
        crew = found;
      },
      () => {},
    );
  };
  agent.subscribe((event) => {
    if (event.type === "tool_began" && event.name === "agent") expect();
  });
  return {
    expect,
    running: (): readonly MemberInfo[] => crew?.list().filter(({ state }) => state === "running") ?? [],
  };
}

/** The events of a session and of its sub-agents, in the order of time. */
export async function loadConversation(sessions: SessionStore, id: string): Promise<readonly StampedEvent[]> {
  const own = await Array.fromAsync(sessions.events(id));
  const found = [...own];
  const all = (await sessions.list()).filter(({ parent }) => parent?.kind === "agent");
  const above = [id];
  for (const one of above)
    for (const { session_id, parent } of all)
      if (parent?.session_id === one) {
        above.push(session_id);
        found.push(...(await Array.fromAsync(sessions.events(session_id))));
      }
  return found.length === own.length ? own : found.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}
