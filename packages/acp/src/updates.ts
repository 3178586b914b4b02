import type {
  ContentBlock,
  SessionUpdate,
  ToolCallContent,
  ToolCallLocation,
} from "@agentclientprotocol/sdk";
import {
  type AgentEvent,
  type AssistantPart,
  PlanMark,
  searchLines,
  type ToolBegan,
  type ToolEnded,
  type UserPart,
  type WebSearchPart,
} from "@octant/agent";
import type { FileDiff, OpenedSession } from "@octant/app";
import { toBlock } from "./content.ts";

export interface UpdatesOptions {
  readonly session: Pick<OpenedSession, "pathOf" | "diffsOf">;
  /** Optional features that the client can show. */
  readonly shows: { readonly notices: boolean; readonly compaction: boolean };
  /** The editor's terminal in which a call ran. */
  readonly terminalOf?: (callId: string) => string | undefined;
  /** Replays stored events in full; live ones add only what their deltas did not show. */
  readonly replay: boolean;
  readonly toDiff?: ((diff: FileDiff) => ToolCallContent) | undefined;
  /** The cost of the session before the first event; null when a part of it is unknown. */
  readonly costBefore?: number | null;
}

/** Longer tool output is cut for the client; the model has all of it. */
const MAX_SHOWN_CHARS = 32_000;

/** Converts the events of a session, in order, to updates for its client. */
export function createUpdates(options: UpdatesOptions): (event: AgentEvent) => readonly SessionUpdate[] {
  const { session, shows, replay, terminalOf = () => undefined, toDiff = toDiffV1 } = options;
  /** Calls that were announced to the client and have not ended. */
  const open = new Set<string>();
  let streamed = { text: false, thinking: false };
  let compactions = 0;
  let { costBefore: cost = 0 } = options;

  const locate = (uris: readonly string[]): ToolCallLocation[] =>
    uris.flatMap((uri) => session.pathOf(uri) ?? []).map((path) => ({ path }));
  const began = ({ call_id, name, title, kind, paths, input }: ToolBegan): SessionUpdate => {
    const isNew = !open.has(call_id);
    open.add(call_id);
    return {
      sessionUpdate: isNew ? "tool_call" : "tool_call_update",
      toolCallId: call_id,
      name,
      title,
      kind,
      status: "in_progress",
      locations: locate(paths),
      rawInput: input,
    };
  };
  const ended = (event: ToolEnded): SessionUpdate => {
    const { call_id, name, is_error, facts } = event;
    const changed = facts?.changed?.map(({ path }) => path) ?? [];
    const isNew = !open.delete(call_id);
    const terminalId = terminalOf(call_id);
    return {
      ...(isNew ? { sessionUpdate: "tool_call", title: name } : { sessionUpdate: "tool_call_update" }),
      toolCallId: call_id,
      status: is_error ? "failed" : "completed",
      content: [
        ...(terminalId === undefined ? [] : [{ type: "terminal" as const, terminalId }]),
        ...(facts?.undo_ref ? session.diffsOf(facts.undo_ref).map(toDiff) : []),
        ...event.content.map(toShown),
      ],
      ...(changed.length > 0 && { locations: locate(changed) }),
    };
  };
  const voided = (): SessionUpdate[] => {
    const calls = [...open].map(
      (toolCallId): SessionUpdate => ({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" }),
    );
    open.clear();
    return streamed.text ? [...calls, say("agent_message_chunk", RESTARTED)] : calls;
  };

  return (event) => {
    if (event.type === "message" || event.type === "spent" || event.type === "compaction")
      cost = cost === null || event.cost === null ? null : cost + event.cost;
    switch (event.type) {
      case "user":
        return replay && event.origin === "person"
          ? event.content.map((part) => ({ sessionUpdate: "user_message_chunk", content: toBlock(part) }))
          : [];
      case "text_delta":
        streamed.text = true;
        return event.text === "" ? [] : [say("agent_message_chunk", event.text)];
      case "thinking_delta":
        streamed.thinking = true;
        return event.text === "" ? [] : [say("agent_thought_chunk", event.text)];
      case "retry":
        return voided();
      case "call_delta": {
        if (open.has(event.call_id) || event.name === undefined) return [];
        open.add(event.call_id);
        const { call_id: toolCallId, name } = event;
        return [
          { sessionUpdate: "tool_call", toolCallId, name, title: name, kind: "other", status: "pending" },
        ];
      }
      case "message": {
        const shown = streamed;
        streamed = { text: false, thinking: false };
        const { used_tokens: used, size_tokens: size } = event.context;
        return [
          ...event.message.content.flatMap((part) => fromModel(part, shown)),
          {
            sessionUpdate: "usage_update",
            used,
            size,
            ...(cost !== null && { cost: { amount: cost, currency: "USD" } }),
          },
        ];
      }
      case "tool_began":
        return [began(event)];
      case "tool_progress": {
        const { call_id: toolCallId, message } = event;
        if (message === undefined) return [];
        return [
          {
            sessionUpdate: "tool_call_update",
            toolCallId,
            content: [toShown({ type: "text", text: message })],
          },
        ];
      }
      case "tool_ended":
        return [ended(event)];
      case "title":
        return [{ sessionUpdate: "session_info_update", title: event.title, updatedAt: event.at }];
      case "notice":
        if (event.text === "") return [];
        return shows.notices
          ? [{ sessionUpdate: "notice", severity: event.level, title: event.text }]
          : [{ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: `${event.text}\n\n` } }];
      case "compaction_began":
        compactions += 1;
        return shows.compaction ? [compaction(event.session_id, compactions, "in_progress")] : [];
      case "compaction":
        if (replay) compactions += 1;
        return shows.compaction ? [compaction(event.session_id, compactions, "completed")] : [];
      case "mark":
        return event.name === "plan" ? toPlan(event.data) : [];
      default:
        return [];
    }
  };
}

const RESTARTED = "\n\n(The answer was interrupted and starts again.)\n\n";

export const say = (
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk",
  text: string,
): SessionUpdate => ({ sessionUpdate, content: { type: "text", text } });

function fromModel(
  part: AssistantPart,
  shown: { readonly text: boolean; readonly thinking: boolean },
): SessionUpdate[] {
  if (part.type === "web_search") return [toSearchUpdate(part)];
  if (part.type === "tool_call" || shown[part.type] || part.text === "") return [];
  return [say(part.type === "text" ? "agent_message_chunk" : "agent_thought_chunk", part.text)];
}

/** A search of the model's provider; the question comes before its result. */
function toSearchUpdate(part: WebSearchPart): SessionUpdate {
  const { search_id: toolCallId, queries, done, error } = part;
  const status = error !== undefined ? "failed" : done ? "completed" : "in_progress";
  const content = [toShown({ type: "text", text: searchLines(part).join("\n") })];
  if (queries.length === 0 && done) return { sessionUpdate: "tool_call_update", toolCallId, status, content };
  const title = `Web search: ${queries.join(", ")}`;
  return {
    sessionUpdate: "tool_call",
    toolCallId,
    status,
    content,
    name: "web_search",
    title,
    kind: "fetch",
  };
}

/** The protocol has no failed or skipped entries; the text says so. */
function toPlan(data: unknown): readonly SessionUpdate[] {
  const { success, data: plan } = PlanMark.safeParse(data);
  if (!success) return [];
  const entries = plan.entries.map(({ content, status }) =>
    status === "failed" || status === "skipped"
      ? ({ content: `${content} (${status})`, status: "completed", priority: "medium" } as const)
      : ({ content, status, priority: "medium" } as const),
  );
  return [{ sessionUpdate: "plan", entries }];
}

const compaction = (session: string, count: number, status: "in_progress" | "completed"): SessionUpdate => ({
  sessionUpdate: "compaction_update",
  compactionId: `${session}.${count}`,
  status,
});

const toDiffV1 = ({ path, oldText, newText }: FileDiff): ToolCallContent => ({
  type: "diff",
  path,
  oldText,
  newText,
});

function toShown(part: UserPart): ToolCallContent {
  const block: ContentBlock = toBlock(part);
  if (block.type !== "text" || block.text.length <= MAX_SHOWN_CHARS)
    return { type: "content", content: block };
  const text = `${block.text.slice(0, MAX_SHOWN_CHARS).toWellFormed()}\n(${block.text.length - MAX_SHOWN_CHARS} more characters)`;
  return { type: "content", content: { type: "text", text } };
}
