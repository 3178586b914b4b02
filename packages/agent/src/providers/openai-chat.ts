import type { StopReason, StreamEvent } from "../api-client.ts";
import { type AssistantPart, type Message, textOf, toolCallsOf, type UserPart } from "../messages.ts";
import type { Usage } from "../usage.ts";
import { createCallCollector } from "./chat-calls.ts";
import { brokenStream, toStreamError } from "./failures.ts";
import { type Api, parseData, type Reader } from "./http-client.ts";
import { fieldOf, listOf, numberOf, stringOf } from "./json.ts";
import { chatReasoning } from "./thinking.ts";
import { safeId } from "./tool-ids.ts";

const NAME = "openai-chat";

/** OpenAI Chat Completions, and the many compatible servers: Ollama, llama.cpp, vLLM, OpenRouter. */
export const openaiChat: Api = {
  path: () => "/chat/completions",
  toItems: toMessages,
  body: (request, model, items) => ({
    model: model.id,
    stream: true,
    stream_options: { include_usage: true },
    ...chatReasoning(model),
    ...(request.max_output_tokens !== undefined && { max_tokens: request.max_output_tokens }),
    ...(request.output_schema && {
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", schema: request.output_schema },
      },
    }),
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, input_schema }) => ({
        type: "function",
        function: { name, description, parameters: input_schema },
      })),
    }),
    messages: [...(request.system === "" ? [] : [{ role: "system", content: request.system }]), ...items],
  }),
  createReader,
};

function toMessages(message: Message): unknown[] {
  if (message.role === "user") return [{ role: "user", content: toContent(message.content) }];
  if (message.role === "assistant") return [toAssistant(message.content)];
  const results = message.results.map(({ call_id, content }) => ({
    role: "tool",
    tool_call_id: safeId(call_id),
    content: textOf(content),
  }));
  // A result is text only in this API; its images follow as a user message.
  const images = message.results.flatMap(({ content }) => content.filter(({ type }) => type === "image"));
  return images.length === 0 ? results : [...results, { role: "user", content: toContent(images) }];
}

function toContent(parts: readonly UserPart[]) {
  if (parts.every(({ type }) => type === "text")) return textOf(parts);
  return parts.map((part) =>
    part.type === "text"
      ? { type: "text", text: part.text }
      : { type: "image_url", image_url: { url: `data:${part.mime};base64,${part.data}` } },
  );
}

function toAssistant(content: readonly AssistantPart[]) {
  const calls = toolCallsOf({ role: "assistant", content });
  const own = content.find((part) => part.type === "thinking" && part.native?.api === NAME)?.native?.data;
  return {
    role: "assistant",
    content: textOf(content) || (calls.length > 0 ? null : ""),
    // Under the name that the server used.
    ...(typeof own === "object" && own),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: text }) => ({
        id: safeId(id),
        type: "function",
        function: { name, arguments: text || "{}" },
      })),
    }),
  };
}

const REASONING_FIELDS = ["reasoning_content", "reasoning"] as const;

function createReader(provider: string): Reader {
  const calls = createCallCollector();
  const reasoning = { field: "", text: "", details: [] as unknown[] };
  let text = "";
  let refusal = "";
  let finish = "";
  let usage: unknown;
  let isOver = false;

  function* readDelta(delta: unknown): Generator<StreamEvent> {
    for (const field of REASONING_FIELDS) {
      const thought = stringOf(delta, field);
      if (thought === "" || (reasoning.field !== "" && reasoning.field !== field)) continue;
      reasoning.field = field;
      reasoning.text += thought;
      yield { type: "thinking", text: thought };
    }
    reasoning.details.push(...listOf(delta, "reasoning_details"));
    const said = stringOf(delta, "content");
    const refused = stringOf(delta, "refusal");
    text += said;
    refusal += refused;
    if (said + refused !== "") yield { type: "text", text: said + refused };
    for (const call of listOf(delta, "tool_calls")) yield* calls.add(call);
  }

  return {
    *read(frame) {
      if (frame.data === "[DONE]") {
        isOver = true;
        return;
      }
      const chunk = parseData(frame);
      const error = fieldOf(chunk, "error");
      if (error) throw toStreamError(provider, error);
      usage = fieldOf(chunk, "usage") ?? usage;
      const [choice] = listOf(chunk, "choices");
      yield* readDelta(fieldOf(choice, "delta") ?? fieldOf(choice, "message"));
      finish = stringOf(choice, "finish_reason") || finish;
      usage = fieldOf(choice, "usage") ?? usage;
    },
    state: () => (isOver ? "over" : finish === "" ? "open" : "complete"),
    *end() {
      if (!isOver && finish === "") throw brokenStream("it ended before the answer was complete");
      const found = calls.finish();
      const content: AssistantPart[] = [
        ...toThinking(reasoning),
        ...(text + refusal === "" ? [] : [{ type: "text", text: text + refusal } as const]),
        ...found,
      ];
      yield {
        type: "done",
        message: { role: "assistant", content },
        stop: stopOf(finish, found.length > 0, refusal),
        usage: toUsage(usage),
        ...(refusal !== "" && { detail: refusal }),
      };
    },
  };
}

function toThinking({
  field,
  text,
  details,
}: {
  field: string;
  text: string;
  details: unknown[];
}): AssistantPart[] {
  if (text === "" && details.length === 0) return [];
  const data = {
    ...(field !== "" && { [field]: text }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
  return [{ type: "thinking", text, native: { api: NAME, data } }];
}

/** Calls count whatever the reason: some servers send `stop` with them. */
function stopOf(finish: string, hasCalls: boolean, refusal: string): StopReason {
  if (hasCalls) return "tool_calls";
  if (finish === "length") return "output_limit";
  return finish === "content_filter" || refusal !== "" ? "refusal" : "end";
}

function toUsage(usage: unknown): Usage {
  const details = fieldOf(usage, "prompt_tokens_details");
  const cached = numberOf(details, "cached_tokens") || numberOf(usage, "prompt_cache_hit_tokens");
  return {
    input_tokens: Math.max(0, numberOf(usage, "prompt_tokens") - cached),
    cache_read_tokens: cached,
    cache_write_tokens: 0,
    output_tokens: numberOf(usage, "completion_tokens"),
    reasoning_tokens: numberOf(fieldOf(usage, "completion_tokens_details"), "reasoning_tokens"),
  };
}
