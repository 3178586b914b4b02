import type { StopReason, StreamEvent } from "../api-client.ts";
import type { AssistantMessage, AssistantPart, Message, ToolMessage, UserPart } from "../messages.ts";
import { parseArguments } from "../run-calls.ts";
import type { Usage } from "../usage.ts";
import { brokenStream, toStreamError } from "./failures.ts";
import { type Api, parseData, type Reader } from "./http-client.ts";
import { fieldOf, numberOf, stringOf } from "./json.ts";
import { anthropicThinking } from "./thinking.ts";
import { safeId } from "./tool-ids.ts";

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
  if (part.native?.api === NAME) return [part.native.data];
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

function createReader(provider: string): Reader {
  const blocks = new Map<number, Block>();
  let usage = { input: 0, output: 0, read: 0, write: 0 };
  let stop: unknown;
  let detail = "";
  let isOver = false;

  const noteUsage = (given: unknown) => {
    if (typeof given !== "object" || given === null) return;
    // The later count is cumulative; an absent or null field keeps its value.
    usage = {
      input: numberOf(given, "input_tokens") || usage.input,
      output: numberOf(given, "output_tokens") || usage.output,
      read: numberOf(given, "cache_read_input_tokens") || usage.read,
      write: numberOf(given, "cache_creation_input_tokens") || usage.write,
    };
  };

  function* begin(index: number, start: unknown): Generator<StreamEvent> {
    const block = {
      type: stringOf(start, "type"),
      start,
      id: stringOf(start, "id"),
      text: "",
      signature: "",
    };
    blocks.set(index, block);
    if (block.type === "tool_use")
      yield { type: "call_begin", call_id: block.id, name: stringOf(start, "name") };
    if (block.type === "text") yield* grow(block, stringOf(start, "text"));
    if (block.type === "thinking") yield* grow(block, stringOf(start, "thinking"));
  }
  function* grow(block: Block, text: string): Generator<StreamEvent> {
    block.text += text;
    if (text === "") return;
    if (block.type === "text") yield { type: "text", text };
    if (block.type === "thinking") yield { type: "thinking", text };
    if (block.type === "tool_use") yield { type: "call_arguments", call_id: block.id, text };
  }
  function* delta(block: Block | undefined, given: unknown): Generator<StreamEvent> {
    if (!block) return;
    switch (stringOf(given, "type")) {
      case "text_delta":
        yield* grow(block, stringOf(given, "text"));
        break;
      case "thinking_delta":
        yield* grow(block, stringOf(given, "thinking"));
        break;
      case "input_json_delta":
        yield* grow(block, stringOf(given, "partial_json"));
        break;
      case "signature_delta":
        block.signature += stringOf(given, "signature");
        break;
    }
  }

  return {
    *read(frame) {
      const event = parseData(frame);
      const index = numberOf(event, "index");
      switch (stringOf(event, "type")) {
        case "message_start":
          noteUsage(fieldOf(fieldOf(event, "message"), "usage"));
          break;
        case "content_block_start":
          yield* begin(index, fieldOf(event, "content_block"));
          break;
        case "content_block_delta":
          yield* delta(blocks.get(index), fieldOf(event, "delta"));
          break;
        case "message_delta":
          noteUsage(fieldOf(event, "usage"));
          stop = fieldOf(fieldOf(event, "delta"), "stop_reason") ?? stop;
          detail = stringOf(fieldOf(fieldOf(event, "delta"), "stop_details"), "explanation") || detail;
          break;
        case "message_stop":
          isOver = true;
          break;
        case "error":
          throw toStreamError(provider, fieldOf(event, "error"));
      }
    },
    state: () => (isOver ? "over" : typeof stop === "string" ? "complete" : "open"),
    *end() {
      if (typeof stop !== "string") throw brokenStream("it ended before the answer was complete");
      if (stop === "model_context_window_exceeded")
        throw toStreamError(provider, { type: "invalid_request_error", message: "context_length_exceeded" });
      const content = [...blocks].sort(([a], [b]) => a - b).flatMap(([, block]) => toParts(block));
      const message: AssistantMessage = { role: "assistant", content };
      const reason = stopOf(stop);
      yield { type: "done", message, stop: reason, usage: toUsage(usage), ...(detail && { detail }) };
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

function stopOf(reason: string): StopReason {
  if (reason === "tool_use") return "tool_calls";
  if (reason === "max_tokens") return "output_limit";
  if (reason === "refusal") return "refusal";
  if (reason === "pause_turn") return "pause";
  return "end";
}

const toUsage = ({
  input,
  output,
  read,
  write,
}: {
  input: number;
  output: number;
  read: number;
  write: number;
}): Usage => ({
  input_tokens: input,
  cache_read_tokens: read,
  cache_write_tokens: write,
  output_tokens: output,
  reasoning_tokens: 0,
});
