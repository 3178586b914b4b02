import type { Model, ToolDefinition } from "./api-client.ts";
import type { StoredEvent, ToolEnded } from "./events.ts";
import { type Message, type ToolCallPart, type ToolMessage, textParts, toolCallsOf } from "./messages.ts";
import type { ChangedFile } from "./tool-executor.ts";
import { addUsage, NO_USAGE, tokensOf, type Usage } from "./usage.ts";

/** The state that results from the events of a session. Deterministic. */
export interface Conversation {
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  readonly model: Model | undefined;
  readonly cwd: string;
  readonly title: string;
  /** Complete: every call in it has its result. */
  readonly messages: readonly Message[];
  /** The ids of all calls so far. */
  readonly callIds: ReadonlySet<string>;
  /** Calls of the last answer without a result. */
  readonly pendingCalls: readonly PendingCall[];
  readonly usage: Usage;
  /** null when a part of it is unknown. */
  readonly cost: number | null;
  /** The part of it that is known. */
  readonly knownCost: number;
  /** How often the model answered, those of sub-agents included. */
  readonly turns: number;
  /** The minimum number of tokens of the next request, as counted by the provider. */
  readonly contextTokens: number;
  /** How many of the messages `contextTokens` covers. */
  readonly countedMessages: number;
  /** The newest state of each file that calls have changed. */
  readonly changed: ReadonlyMap<string, ChangedFile>;
  /** The newest state of each file that calls have shown to the model. */
  readonly seen: ReadonlyMap<string, ChangedFile>;
  apply(event: StoredEvent): void;
}

export interface PendingCall {
  readonly call: ToolCallPart;
  readonly began: boolean;
}

export function createConversation(): Conversation {
  let messages: Message[] = [];
  let calls: readonly ToolCallPart[] = [];
  const callIds = new Set<string>();
  const began = new Set<string>();
  const ended = new Map<string, ToolEnded>();
  const changed = new Map<string, ChangedFile>();
  const seen = new Map<string, ChangedFile>();
  const totals = { system: "", cwd: "", title: "", turns: 0, contextTokens: 0, counted: 0 };
  let usage = NO_USAGE;
  let cost: number | null = 0;
  let knownCost = 0;
  let tools: readonly ToolDefinition[] = [];
  let model: Model | undefined;

  const spend = (event: { readonly usage: Usage; readonly cost: number | null }) => {
    usage = addUsage(usage, event.usage);
    knownCost += event.cost ?? 0;
    cost = cost === null || event.cost === null ? null : cost + event.cost;
  };
  const settleCalls = () => {
    if (calls.length === 0 || calls.some(({ id }) => !ended.has(id))) return;
    messages.push(toToolMessage(calls, ended));
    calls = [];
    began.clear();
    ended.clear();
  };

  const apply = (event: StoredEvent): void => {
    switch (event.type) {
      case "session_began":
        ({ tools, model } = event);
        totals.system = event.system;
        totals.cwd = event.cwd;
        break;
      case "tools_added":
        tools = [...tools, ...event.tools];
        break;
      case "model_changed":
        model = event.model;
        break;
      case "title":
        totals.title = event.title;
        break;
      case "user":
        messages.push({ role: "user", origin: event.origin, content: event.content });
        break;
      case "message":
        messages.push(event.message);
        calls = toolCallsOf(event.message);
        for (const { id } of calls) callIds.add(id);
        totals.turns += 1;
        totals.contextTokens = tokensOf(event.usage);
        totals.counted = messages.length;
        spend(event);
        break;
      case "tool_began":
        began.add(event.call_id);
        break;
      case "tool_ended":
        ended.set(event.call_id, event);
        for (const file of event.facts?.changed ?? []) note(changed, file);
        for (const file of [...(event.facts?.read ?? []), ...(event.facts?.changed ?? [])]) note(seen, file);
        settleCalls();
        break;
      case "spent":
        totals.turns += event.turns;
        spend(event);
        break;
      case "compaction":
        messages = [...event.messages];
        totals.contextTokens = event.tokens_after;
        totals.counted = messages.length;
        spend(event);
        break;
    }
  };
  return {
    apply,
    callIds,
    get system() {
      return totals.system;
    },
    get cwd() {
      return totals.cwd;
    },
    get title() {
      return totals.title;
    },
    get turns() {
      return totals.turns;
    },
    get contextTokens() {
      return totals.contextTokens;
    },
    get countedMessages() {
      return totals.counted;
    },
    get tools() {
      return tools;
    },
    get model() {
      return model;
    },
    get messages() {
      return messages;
    },
    get pendingCalls() {
      return calls.filter(({ id }) => !ended.has(id)).map((call) => ({ call, began: began.has(call.id) }));
    },
    get usage() {
      return usage;
    },
    get cost() {
      return cost;
    },
    get knownCost() {
      return knownCost;
    },
    changed,
    seen,
  };
}

const toToolMessage = (
  calls: readonly ToolCallPart[],
  ended: ReadonlyMap<string, ToolEnded>,
): ToolMessage => ({
  role: "tool",
  results: calls.map(({ id, name }) => {
    const { content = textParts(""), is_error = true } = ended.get(id) ?? {};
    return { call_id: id, name, content, is_error };
  }),
});

/** Newest last. */
function note(files: Map<string, ChangedFile>, file: ChangedFile): void {
  files.delete(file.path);
  files.set(file.path, file);
}
