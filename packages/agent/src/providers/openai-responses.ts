import type { StopReason, StreamEvent } from "../api-client.ts";
import { ApiError } from "../api-error.ts";
import { type AssistantPart, type Message, type ToolMessage, textOf, type UserPart } from "../messages.ts";
import type { Usage } from "../usage.ts";
import { brokenStream, toStreamError } from "./failures.ts";
import { type Api, parseData, type Reader } from "./http-client.ts";
import { fieldOf, listOf, numberOf, stringOf } from "./json.ts";
import { responsesReasoning } from "./thinking.ts";
import { safeId } from "./tool-ids.ts";

const NAME = "openai-responses";

/** OpenAI Responses. Nothing is stored there: reasoning comes encrypted and is sent back. */
export const openaiResponses: Api = {
  path: () => "/responses",
  toItems,
  body: (request, model, items) => ({
    model: model.id,
    stream: true,
    store: false,
    ...responsesReasoning(model),
    ...(request.max_output_tokens !== undefined && { max_output_tokens: request.max_output_tokens }),
    ...(request.cache_key !== undefined && { prompt_cache_key: request.cache_key }),
    ...(request.output_schema && {
      text: {
        format: { type: "json_schema", name: "answer", schema: request.output_schema, strict: false },
      },
    }),
    instructions: request.system,
    tools: request.tools.map(({ name, description, input_schema }) => ({
      type: "function",
      name,
      description,
      parameters: input_schema,
      strict: false,
    })),
    input: items,
  }),
  createReader,
};

function toItems(message: Message): unknown[] {
  if (message.role === "user") return [{ role: "user", content: message.content.map(toInput) }];
  if (message.role === "tool") return message.results.map(toOutputItem);
  return message.content.flatMap(toAssistantItems);
}

const toInput = (part: UserPart) =>
  part.type === "text"
    ? { type: "input_text", text: part.text }
    : { type: "input_image", detail: "auto", image_url: `data:${part.mime};base64,${part.data}` };

const toOutputItem = ({ call_id, content }: ToolMessage["results"][number]) => ({
  type: "function_call_output",
  call_id: safeId(call_id),
  output: content.every(({ type }) => type === "text") ? textOf(content) : content.map(toInput),
});

function toAssistantItems(part: AssistantPart): unknown[] {
  const own = part.native?.api === NAME ? part.native.data : undefined;
  if (part.type === "thinking") return own ? [own] : [];
  if (part.type === "text") {
    const phase = fieldOf(own, "phase");
    const content = [{ type: "output_text", text: part.text, annotations: [] }];
    return [{ type: "message", role: "assistant", content, ...(phase !== undefined && { phase }) }];
  }
  return [
    { type: "function_call", call_id: safeId(part.id), name: part.name, arguments: part.arguments || "{}" },
  ];
}

interface Item {
  readonly type: string;
  readonly callId: string;
  readonly name: string;
  text: string;
  /** The item in its final state. */
  whole?: unknown;
}

function createReader(provider: string): Reader {
  const items = new Map<string, Item>();
  let response: unknown;
  let kind = "";
  let refusal = "";

  const begin = (key: string, item: unknown): Item => {
    const made = {
      type: stringOf(item, "type"),
      callId: stringOf(item, "call_id"),
      name: stringOf(item, "name"),
      text: "",
    };
    items.set(key, made);
    return made;
  };
  function* grow(key: string, type: "text" | "thinking" | "call", text: string): Generator<StreamEvent> {
    const item = items.get(key);
    if (item) item.text += text;
    if (text === "") return;
    if (type === "call") yield { type: "call_arguments", call_id: item?.callId ?? "", text };
    else yield { type, text };
  }

  return {
    *read(frame) {
      if (frame.data === "[DONE]") return;
      const event = parseData(frame);
      // On some gateways ids change between the events of one item; its index in the output does not.
      const key = keyOf(event);
      const delta = stringOf(event, "delta");
      const type = stringOf(event, "type");
      switch (type) {
        case "response.output_item.added": {
          const item = begin(key, fieldOf(event, "item"));
          if (item.type === "function_call")
            yield { type: "call_begin", call_id: item.callId, name: item.name };
          break;
        }
        case "response.output_text.delta":
          yield* grow(key, "text", delta);
          break;
        case "response.refusal.delta":
          refusal += delta;
          yield* grow(key, "text", delta);
          break;
        case "response.reasoning_summary_text.delta":
        case "response.reasoning_text.delta":
          yield* grow(key, "thinking", delta);
          break;
        case "response.reasoning_summary_part.added":
          if (numberOf(event, "summary_index") > 0) yield* grow(key, "thinking", "\n\n");
          break;
        case "response.function_call_arguments.delta":
          yield* grow(key, "call", delta);
          break;
        case "response.output_item.done": {
          const item = items.get(key) ?? begin(key, fieldOf(event, "item"));
          item.whole = fieldOf(event, "item");
          break;
        }
        case "response.completed":
        case "response.incomplete":
        case "response.failed":
          kind = type;
          response = fieldOf(event, "response");
          break;
        case "error":
          throw toStreamError(provider, fieldOf(event, "error") ?? event);
      }
    },
    state: () => (kind === "" ? "open" : "over"),
    *end() {
      if (kind === "response.failed") throw toStreamError(provider, fieldOf(response, "error"));
      if (kind === "") throw brokenStream("it ended before the answer was complete");
      const content = [...items]
        .sort(([a], [b]) => Number(a) - Number(b))
        .flatMap(([, item]) => toParts(item));
      const stop = stopOf(
        kind,
        stringOf(fieldOf(response, "incomplete_details"), "reason"),
        refusal,
        content,
      );
      yield {
        type: "done",
        message: { role: "assistant", content },
        stop,
        usage: toUsage(fieldOf(response, "usage")),
        ...(refusal !== "" && { detail: refusal }),
      };
    },
  };
}

const keyOf = (event: unknown): string => {
  const index = fieldOf(event, "output_index");
  return typeof index === "number" ? `${index}` : stringOf(event, "item_id");
};

function toParts({ type, text, callId, name, whole }: Item): AssistantPart[] {
  switch (type) {
    case "message": {
      const said = listOf(whole, "content")
        .map((part) => stringOf(part, "text") || stringOf(part, "refusal"))
        .join("");
      const phase = fieldOf(whole, "phase");
      const native = phase === undefined ? {} : { native: { api: NAME, data: { phase } } };
      return said || text ? [{ type: "text", text: said || text, ...native }] : [];
    }
    case "reasoning":
      return whole === undefined
        ? []
        : [{ type: "thinking", text, native: { api: NAME, data: toReasoning(whole) } }];
    case "function_call":
      return [
        {
          type: "tool_call",
          id: callId || stringOf(whole, "call_id"),
          name: name || stringOf(whole, "name"),
          arguments: whole === undefined ? text : stringOf(whole, "arguments"),
        },
      ];
    default:
      return [];
  }
}

/** The fields that the API accepts back; `status` is read-only. */
function toReasoning(item: unknown): unknown {
  const { id, type, summary, content, encrypted_content } = item as Record<string, unknown>; // Checked to be an object by its type.
  return {
    id,
    type,
    summary: summary ?? [],
    ...(content !== undefined && content !== null && { content }),
    ...(encrypted_content !== undefined && { encrypted_content }),
  };
}

function stopOf(kind: string, why: string, refusal: string, content: readonly AssistantPart[]): StopReason {
  if (kind === "response.incomplete") {
    if (why === "content_filter") return "refusal";
    if (why !== "" && why !== "max_output_tokens")
      throw new ApiError("server", `the answer is incomplete: ${why}`);
    return "output_limit";
  }
  if (content.some(({ type }) => type === "tool_call")) return "tool_calls";
  return refusal === "" ? "end" : "refusal";
}

function toUsage(usage: unknown): Usage {
  const cached = numberOf(fieldOf(usage, "input_tokens_details"), "cached_tokens");
  return {
    input_tokens: Math.max(0, numberOf(usage, "input_tokens") - cached),
    cache_read_tokens: cached,
    cache_write_tokens: 0,
    output_tokens: numberOf(usage, "output_tokens"),
    reasoning_tokens: numberOf(fieldOf(usage, "output_tokens_details"), "reasoning_tokens"),
  };
}
