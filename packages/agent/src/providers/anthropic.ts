import type { Delta, StopReason } from "../api-client.ts";
import type { AssistantPart, Message, ToolMessage, UserPart } from "../messages.ts";
import { parseArguments } from "../run-calls.ts";
import { NO_USAGE } from "../usage.ts";
import { toStreamError } from "./failures.ts";
import type { Api, Reader } from "./http-client.ts";
import { anthropicThinking } from "./thinking.ts";
import { fieldOf, nativeOf, numberOf, safeId, stringOf } from "./wire.ts";

const NAME = "anthropic";
const EPHEMERAL = { type: "ephemeral" } as const;

/** Anthropic Messages. */
export const anthropicMessages: Api = {
  path: () => "/v1/messages",
  headers: { "anthropic-version": "2023-06-01" },
  toItems: (message) => [toMessage(message)].filter(({ content }) => content.length > 0),
  body: (request, model, items) => {
    const maxTokens = request.max_output_tokens ?? model.max_output_tokens;
    return {
      model: model.id,
      max_tokens: maxTokens,
      stream: true,
      ...anthropicThinking(model, maxTokens),
      tools: request.tools,
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

function toMessage(message: Message) {
  if (message.role === "user") return { role: "user", content: message.content.flatMap(toUserBlocks) };
  if (message.role === "tool") return { role: "user", content: message.results.map(toResultBlock) };
  return { role: "assistant", content: message.content.flatMap(toAssistantBlocks) };
}

/** The API rejects blocks with empty text. */
function toUserBlocks(part: UserPart): unknown[] {
  if (part.type === "text") return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
  return [{ type: "image", source: { type: "base64", media_type: part.mime, data: part.data } }];
}

function toResultBlock({ call_id, content, is_error }: ToolMessage["results"][number]) {
  const blocks = content.flatMap(toUserBlocks);
  return {
    type: "tool_result",
    tool_use_id: safeId(call_id),
    ...(blocks.length > 0 && { content: blocks }),
    ...(is_error && { is_error }),
  };
}

function toAssistantBlocks(part: AssistantPart): unknown[] {
  const own = nativeOf(part, NAME);
  if (own) return [own];
  if (part.type === "thinking") return [];
  if (part.type === "text") return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
  const input = parseArguments(part.arguments);
  return [
    {
      type: "tool_use",
      id: safeId(part.id),
      name: part.name,
      // Only an object is accepted here; the result of the call reports the error.
      input: input instanceof Error ? { malformed_arguments: part.arguments } : input,
    },
  ];
}

interface Block {
  readonly type: string;
  readonly start: unknown;
  readonly id: string;
  text: string;
  signature: string;
}

const STOPS: ReadonlyMap<string, StopReason> = new Map([
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
    };
  };
  const begin = (index: number, start: unknown): Block => {
    const block = {
      type: stringOf(start, "type"),
      start,
      id: stringOf(start, "id"),
      text: "",
      signature: "",
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
      } else if (type === "content_block_delta") {
        const block = blocks.get(index);
        if (!block) return false;
        block.signature += stringOf(event, "delta", "signature");
        yield* grow(block, fieldOf(event, "delta"));
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
      return { content, stop: STOPS.get(stop) ?? "end", usage, detail };
    },
  };
}

function toParts({ type, start, id, text, signature }: Block): AssistantPart[] {
  switch (type) {
    case "text":
      return text === "" ? [] : [{ type: "text", text }];
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
