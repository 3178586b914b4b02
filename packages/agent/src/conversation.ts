import type { Model, ToolDefinition } from "./api-client.ts";
import type { StoredEvent, ToolEnded } from "./events.ts";
import {
  type AssistantMessage,
  type Message,
  type ToolCallPart,
  textParts,
  toolCallsOf,
  type UserMessage,
} from "./messages.ts";
import type { ChangedFile } from "./tool-executor.ts";
import { addUsage, NO_USAGE, tokensOf, type Usage } from "./usage.ts";
import { isPausedSearch, withoutUnanswered, withoutUnasked } from "./web-search.ts";

const INTERRUPTED: UserMessage = {
  role: "user",
  origin: "context",
  content: textParts("[The run was interrupted here.]"),
};

interface PendingCall {
  readonly call: ToolCallPart;
  readonly began: boolean;
  /** It waits for the person's permission. */
  readonly asked: boolean;
}

/** The state that results from the events of a session. Deterministic; only `apply` changes it. */
export class Conversation {
  system = "";
  tools: readonly ToolDefinition[] = [];
  model: Model | undefined;
  cwd = "";
  title = "";
  /** Complete: every call in it has its result. */
  messages: Message[] = [];
  /** The ids of all calls so far. */
  readonly callIds = new Set<string>();
  usage: Usage = NO_USAGE;
  /** null when a part of it is unknown. */
  cost: number | null = 0;
  /** The part of it that is known. */
  knownCost = 0;
  /** How many answers had no known cost. */
  unpriced = 0;
  /** How often the model answered, those of sub-agents included. */
  turns = 0;
  /** The minimum number of tokens of the next request, as counted by the provider. */
  contextTokens = 0;
  /** How many of the messages `contextTokens` covers. */
  countedMessages = 0;
  /** The newest state of each file that calls have changed; the last change comes last. */
  readonly changed = new Map<string, ChangedFile>();
  /** The newest state of each file that calls have shown to the model or changed. */
  readonly seen = new Map<string, ChangedFile>();
  /** The calls of the last answer, until all of them have a result. */
  #calls: readonly ToolCallPart[] = [];
  readonly #began = new Set<string>();
  /** Calls that wait for the person's answer. */
  readonly #asked = new Set<string>();
  readonly #ended = new Map<string, ToolEnded>();
  /** Messages that came before the results of open calls, which providers accept only in the other order. */
  #early: UserMessage[] = [];
  /** The last answer was paused in a web search, and continues in the next one. */
  #isPaused = false;

  /** Calls of the last answer without a result. */
  get pendingCalls(): readonly PendingCall[] {
    return this.#calls
      .filter(({ id }) => !this.#ended.has(id))
      .map((call) => ({ call, began: this.#began.has(call.id), asked: this.#asked.has(call.id) }));
  }

  apply(event: StoredEvent): void {
    switch (event.type) {
      case "session_began":
        ({ system: this.system, tools: this.tools, model: this.model, cwd: this.cwd } = event);
        break;
      case "tools_added":
        this.tools = [...this.tools, ...event.tools];
        break;
      case "model_changed":
        this.model = event.model;
        break;
      case "title":
        this.title = event.title;
        break;
      case "user":
        this.#say({ role: "user", origin: event.origin, content: event.content });
        break;
      case "stopped":
        if (event.text.trim() !== "")
          this.messages.push({ role: "assistant", content: textParts(event.text) });
        break;
      case "end":
        if (event.reason === "cancelled") this.#say(INTERRUPTED);
        break;
      case "message":
        this.#addAnswer(event.message);
        this.#isPaused = isPausedSearch(event);
        this.#calls = toolCallsOf(event.message);
        for (const { id } of this.#calls) this.callIds.add(id);
        this.turns += 1;
        this.#count(tokensOf(event.usage));
        this.#spend(event);
        break;
      case "tool_began":
        this.#began.add(event.call_id);
        break;
      case "permission_asked":
        if (event.kind === undefined) this.#asked.add(event.call_id);
        break;
      case "permission_answered":
        this.#asked.delete(event.call_id);
        break;
      case "tool_ended":
        this.#ended.set(event.call_id, event);
        for (const file of event.facts?.read ?? []) putLast(this.seen, file.path, file);
        for (const file of event.facts?.changed ?? [])
          for (const files of [this.changed, this.seen]) putLast(files, file.path, file);
        this.#settleCalls();
        break;
      case "spent":
        this.turns += event.turns;
        this.#spend(event);
        break;
      case "compaction":
        this.messages = withoutUnasked(event.messages);
        this.#isPaused &&= this.messages.at(-1)?.role === "assistant";
        this.#findCalls();
        this.#count(event.tokens_after);
        this.#spend(event);
        break;
    }
  }

  /** What follows a pause belongs to the same answer. */
  #addAnswer(message: AssistantMessage): void {
    const last = this.messages.at(-1);
    if (this.#isPaused && last?.role === "assistant")
      this.messages.splice(-1, 1, { ...last, content: [...last.content, ...message.content] });
    else this.messages.push(message);
  }

  /** A search without its result is accepted only while its answer continues. */
  #endPause(): void {
    const last = this.messages.at(-1);
    if (!this.#isPaused || last?.role !== "assistant") return;
    this.#isPaused = false;
    this.messages.splice(-1, 1, withoutUnanswered(last));
  }

  #say(message: UserMessage): void {
    this.#endPause();
    if (this.#calls.length > 0) this.#early.push(message);
    else this.messages.push(message);
  }

  /** Older logs may have been compacted while calls were open. */
  #findCalls(): void {
    if (this.#calls.length === 0) return;
    const at = this.messages.findLastIndex(
      (message) => message.role === "assistant" && toolCallsOf(message)[0]?.id === this.#calls[0]?.id,
    );
    if (at < 0) this.#calls = [];
    this.#early = at < 0 ? [] : this.messages.splice(at + 1).filter((message) => message.role === "user");
  }

  #count(tokens: number): void {
    this.contextTokens = tokens;
    this.countedMessages = this.messages.length;
  }

  #spend({ usage, cost }: { readonly usage: Usage; readonly cost: number | null }): void {
    this.usage = addUsage(this.usage, usage);
    this.knownCost += cost ?? 0;
    if (cost === null && tokensOf(usage) > 0) this.unpriced += 1;
    this.cost = this.cost === null || cost === null ? null : this.cost + cost;
  }

  #settleCalls(): void {
    if (this.#calls.length === 0 || this.pendingCalls.length > 0) return;
    const results = this.#calls.map(({ id, name }) => {
      const { content = textParts(""), is_error = true } = this.#ended.get(id) ?? {};
      return { call_id: id, name, content, is_error };
    });
    this.messages.push({ role: "tool", results }, ...this.#early);
    this.#early = [];
    this.#calls = [];
    this.#began.clear();
    this.#asked.clear();
    this.#ended.clear();
  }
}

/** Sets a value and makes it the last one. */
export function putLast<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
}
