import type { Agent, AgentEvent } from "@octant/agent";
import { createTopic } from "@octant/core";
import type { SessionStatus } from "./protocol.ts";

const MAX_BYTES = 4 * 1024 * 1024;
const LIVE_EVENT_BYTES = 256;

/** The agent's open sessions in this process, and their events. */
export type SessionRoster = ReturnType<typeof createSessionRoster>;

export function createSessionRoster() {
  const agents = new Map<string, Agent>();
  const events = createTopic<AgentEvent>({ now: Date.now, maxBytes: MAX_BYTES, sizeOf });
  return {
    events,
    /** Lists the session and publishes its events until the returned function is called. */
    join(agent: Agent): () => void {
      const { id } = agent.session;
      agents.set(id, agent);
      const stop = agent.subscribe((event) => {
        // The sum of live events is stored, so they are only for readers who watch.
        if (!isLive(event) || events.listenerCount > 0) events.publish(event);
      });
      return () => {
        agents.delete(id);
        stop();
      };
    },
    get: (session_id: string): Agent | undefined => agents.get(session_id),
    list: (): readonly SessionStatus[] =>
      [...agents.values()].map(({ session: { id, conversation }, isRunning }) => ({
        session_id: id,
        title: conversation.title,
        model: conversation.model?.id ?? "",
        state: isRunning ? "working" : "idle",
        turns: conversation.turns,
        cost: conversation.cost,
      })),
  };
}

const LIVE: ReadonlySet<string> = new Set(["text_delta", "thinking_delta", "call_delta", "tool_progress"]);
const isLive = ({ type }: AgentEvent): boolean => LIVE.has(type);

const sizeOf = (event: AgentEvent): number =>
  isLive(event) ? LIVE_EVENT_BYTES : JSON.stringify(event).length;
