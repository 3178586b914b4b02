import { attempt } from "@octant/core";
import type { Delta, Model, StopReason } from "../api-client.ts";
import type { AssistantPart, Message, ToolMessage, UserPart, WebSearchPart } from "../messages.ts";
import { NO_USAGE, searchesOf } from "../usage.ts";
import { forSearching, toSearchDelta } from "../web-search.ts";
import { toStreamError } from "./failures.ts";
import type { Api, Reader } from "./http-client.ts";
import { anthropicThinking } from "./thinking.ts";
import { fieldOf, inputOf, listOf, nativeOf, numberOf, stringOf } from "./wire.ts";

const NAME = "anthropic";
/** Later versions also run code on the provider's server. */
const WEB_SEARCH = { type: "web_search_20250305", name: "web_search", max_uses: 8 } as const;
const EPHEMERAL = { type: "ephemeral" } as const;

/** Anthropic Messages. */
export const anthropicMessages: Api = {
  path: () => "/v1/messages",
  headers: { "anthropic-version": "2023-06-01" },
  // 10 dollars for 1,000 searches, by the release notes of other projects in November 2026.
  searchPrice: () => 0.01,
  toItems: (message, model) => [toMessage(message, model)].filter(({ content }) => content.length > 0),
  body: (request, model, items) => {
    const maxTokens = request.max_output_tokens ?? model.max_output_tokens;
    return {
      model: model.id,
      max_tokens: maxTokens,
      stream: true,
      ...anthropicThinking(model, maxTokens, isThinkingTurn(request.messages)),
      // First, because new tools come last.
      tools: model.web_search ? [WEB_SEARCH, ...request.tools] : request.tools,
      ...(request.system !== "" && {
        system: [{ type: "text", text: request.system, cache_control: EPHEMERAL }],
      }),
      ...(request.output_schema && {
        output_config: { format: { type: "json_schema", schema: request.output_schema } },
      }),
      messages: items,
      // Marks the newest block without a change to the messages themselves.
      cache_control: EPHEMERAL,
    };
  },
  createReader,
};

function toMessage(message: Message, { web_search = false }: Model) {
  if (message.role === "user") return { role: "user", content: message.content.map(toUserBlock) };
  if (message.role === "tool") return { role: "user", content: message.results.map(toResultBlock) };
  return {
    role: "assistant",
    content: forSearching(message.content, web_search ? NAME : undefined).flatMap((part) =>
      toAssistantBlocks(part, web_search),
    ),
  };
}

/** Whether the last turn, which may continue after the results of its calls, began with thinking, or has not begun. */
function isThinkingTurn(messages: readonly Message[]): boolean {
  const start = messages.findLastIndex(({ role }) => role === "user") + 1;
  const first = messages[start];
  return first?.role !== "assistant" || isSigned(nativeOf(first.content[0], NAME));
}

/** Thinking that was cut off has no signature, and is refused without one. */
const isSigned = (own: unknown): boolean =>
  stringOf(own, "signature") !== "" || stringOf(own, "type") === "redacted_thinking";

const toUserBlock = (part: UserPart) =>
  part.type === "text"
    ? { type: "text", text: part.text }
    : { type: "image", source: { type: "base64", media_type: part.mime, data: part.data } };

function toResultBlock({ call_id, content, is_error }: ToolMessage["results"][number]) {
  return {
    type: "tool_result",
    tool_use_id: call_id,
    ...(content.length > 0 && { content: content.map(toUserBlock) }),
    ...(is_error && { is_error }),
  };
}

function toAssistantBlocks(part: AssistantPart, searches: boolean): unknown[] {
  const own = nativeOf(part, NAME);
  if (part.type === "thinking") return isSigned(own) ? [own] : [];
  // Text of another provider may be empty except for its signature.
  if (part.type === "web_search") return [own];
  if (part.type === "text") {
    if (part.text.trim() === "") return [];
    const citations = listOf(own, "citations");
    return [{ type: "text", text: part.text, ...(searches && citations.length > 0 && { citations }) }];
  }
  return [{ type: "tool_use", id: part.id, name: part.name, input: inputOf(part) }];
}

interface Block {
  readonly type: string;
  readonly start: unknown;
  readonly id: string;
  text: string;
  signature: string;
  readonly citations: unknown[];
}

const STOPS: ReadonlyMap<string, StopReason> = new Map([
  ["end_turn", "end"],
  ["stop_sequence", "end"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "output_limit"],
  ["refusal", "refusal"],
  ["pause_turn", "pause"],
]);

function createReader(provider: string): Reader {
  const blocks = new Map<number, Block>();
  let usage = NO_USAGE;
  let stop = "";
  let detail = "";

  /** The later count is cumulative; an absent or null field keeps its value. */
  const noteUsage = (given: unknown) => {
    usage = {
      ...usage,
      input_tokens: numberOf(given, "input_tokens") || usage.input_tokens,
      output_tokens: numberOf(given, "output_tokens") || usage.output_tokens,
      cache_read_tokens: numberOf(given, "cache_read_input_tokens") || usage.cache_read_tokens,
      cache_write_tokens: numberOf(given, "cache_creation_input_tokens") || usage.cache_write_tokens,
      ...searchesOf(numberOf(given, "server_tool_use", "web_search_requests") || (usage.web_searches ?? 0)),
    };
  };
  const begin = (index: number, start: unknown): Block => {
    const block = {
      type: stringOf(start, "type"),
      start,
      id: stringOf(start, "id"),
      text: "",
      signature: "",
      citations: [],
    };
    blocks.set(index, block);
    return block;
  };
  /** Each kind of block has its text under its own name. */
  function* grow(block: Block, piece: unknown): Generator<Delta> {
    const text = stringOf(piece, "text") || stringOf(piece, "thinking") || stringOf(piece, "partial_json");
    block.text += text;
    if (text === "") return;
    if (block.type === "text") yield { type: "text_delta", text };
    if (block.type === "thinking") yield { type: "thinking_delta", text };
    if (block.type === "tool_use") yield { type: "call_delta", call_id: block.id, text };
  }

  return {
    *read(event) {
      const type = stringOf(event, "type");
      const index = numberOf(event, "index");
      if (type === "message_start") noteUsage(fieldOf(event, "message", "usage"));
      else if (type === "content_block_start") {
        const block = begin(index, fieldOf(event, "content_block"));
        if (block.type === "tool_use")
          yield { type: "call_delta", call_id: block.id, name: stringOf(block.start, "name"), text: "" };
        yield* grow(block, block.start);
        if (block.type === SEARCH_RESULT) yield* searchDelta(block);
      } else if (type === "content_block_delta") {
        const block = blocks.get(index);
        if (!block) return false;
        const citation = fieldOf(event, "delta", "citation");
        if (citation !== undefined) block.citations.push(citation);
        block.signature += stringOf(event, "delta", "signature");
        yield* grow(block, fieldOf(event, "delta"));
      } else if (type === "content_block_stop") {
        const block = blocks.get(index);
        if (block?.type === "server_tool_use") yield* searchDelta(block);
      } else if (type === "message_delta") {
        noteUsage(fieldOf(event, "usage"));
        stop = stringOf(event, "delta", "stop_reason") || stop;
        detail = stringOf(event, "delta", "stop_details", "explanation") || detail;
      }
      return type === "message_stop";
    },
    finish() {
      if (stop === "") return undefined;
      if (stop === "model_context_window_exceeded")
        throw toStreamError(provider, { type: "invalid_request_error", message: "context_length_exceeded" });
      const content = [...blocks].sort(([a], [b]) => a - b).flatMap(([, block]) => toParts(block));
      // An unknown reason may be a new kind of refusal: its calls must not run.
      const known = STOPS.get(stop);
      return { content, stop: known ?? "refusal", usage, detail: known ? detail : detail || stop };
    },
  };
}

const SEARCH_RESULT = "web_search_tool_result";

/** A question to the provider's web search, or its result; undefined for a question that was cut off. */
function toSearch({ type, start, text }: Block): WebSearchPart | undefined {
  if (type === SEARCH_RESULT) {
    const error = stringOf(start, "content", "error_code");
    return {
      type: "web_search",
      search_id: stringOf(start, "tool_use_id"),
      done: true,
      queries: [],
      sources: listOf(start, "content").map((one) => ({
        title: stringOf(one, "title"),
        url: stringOf(one, "url"),
      })),
      ...(error !== "" && { error }),
      native: { api: NAME, data: start },
    };
  }
  if (stringOf(start, "name") !== WEB_SEARCH.name) return undefined;
  const input: unknown = text === "" ? fieldOf(start, "input") : attempt(() => JSON.parse(text));
  const query = stringOf(input, "query");
  // Checked to be an object by its type.
  const data = { ...(start as object), input };
  const search_id = stringOf(start, "id");
  if (query === "") return undefined;
  return {
    type: "web_search",
    search_id,
    done: false,
    queries: [query],
    sources: [],
    native: { api: NAME, data },
  };
}

function* searchDelta(block: Block): Generator<Delta> {
  const part = toSearch(block);
  if (part) yield toSearchDelta(part);
}

function toParts(block: Block): AssistantPart[] {
  const { type, start, id, text, signature, citations } = block;
  switch (type) {
    case "server_tool_use":
    case SEARCH_RESULT:
      return [toSearch(block) ?? []].flat();
    case "text": {
      const native = citations.length > 0 && { native: { api: NAME, data: { citations } } };
      return text === "" ? [] : [{ type: "text", text, ...native }];
    }
    case "thinking": {
      const data = { type, thinking: text, signature: signature || stringOf(start, "signature") };
      return [{ type: "thinking", text, native: { api: NAME, data } }];
    }
    case "redacted_thinking":
      return [{ type: "thinking", text: "", native: { api: NAME, data: start } }];
    case "tool_use": {
      const given = fieldOf(start, "input");
      // Some gateways send the whole input in the start of the block.
      const whole = text === "" && given && Object.keys(given).length > 0 ? JSON.stringify(given) : text;
      return [{ type: "tool_call", id, name: stringOf(start, "name"), arguments: whole }];
    }
    default:
      return [];
  }
}
