import type { Delta, StopReason } from "../api-client.ts";
import { ApiError } from "../api-error.ts";
import { type AssistantPart, type Message, textOf, toolCallsOf, type UserPart } from "../messages.ts";
import { createCallCollector } from "./chat-calls.ts";
import type { Api, Reader } from "./http-client.ts";
import { chatReasoning } from "./thinking.ts";
import { fieldOf, listOf, nativeOf, numberOf, stringOf, toUsage } from "./wire.ts";

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
  if (message.role === "assistant") return toAssistant(message.content);
  const results = message.results.map(({ call_id, content }) => ({
    role: "tool",
    tool_call_id: call_id,
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

function toAssistant(content: readonly AssistantPart[]): unknown[] {
  const calls = toolCallsOf({ role: "assistant", content });
  const own = content.map((part) => part.type === "thinking" && nativeOf(part, NAME)).find(Boolean);
  const text = textOf(content);
  // Some servers refuse an answer that says nothing.
  if (text.trim() === "" && calls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: text || null,
      // Under the name that the server used.
      ...(typeof own === "object" && own),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, arguments: given }) => ({
          id,
          type: "function",
          function: { name, arguments: given },
        })),
      }),
    },
  ];
}

const REASONING_FIELDS = ["reasoning_content", "reasoning"] as const;

function createReader(): Reader {
  const calls = createCallCollector();
  const reasoning = { field: "", text: "", details: [] as unknown[] };
  let text = "";
  let refusal = "";
  let finish = "";
  let usage: unknown;

  function* readDelta(delta: unknown): Generator<Delta> {
    for (const field of REASONING_FIELDS) {
      const thought = stringOf(delta, field);
      if (thought === "" || (reasoning.field !== "" && reasoning.field !== field)) continue;
      reasoning.field = field;
      reasoning.text += thought;
      yield { type: "thinking_delta", text: thought };
    }
    reasoning.details.push(...listOf(delta, "reasoning_details"));
    const refused = stringOf(delta, "refusal");
    const said = stringOf(delta, "content") + refused;
    refusal += refused;
    text += said;
    if (said !== "") yield { type: "text_delta", text: said };
    for (const call of listOf(delta, "tool_calls")) yield* calls.add(call);
  }

  return {
    *read(chunk) {
      const [choice] = listOf(chunk, "choices");
      yield* readDelta(fieldOf(choice, "delta") ?? fieldOf(choice, "message"));
      finish = stringOf(choice, "finish_reason") || finish;
      usage = fieldOf(choice, "usage") ?? fieldOf(chunk, "usage") ?? usage;
      return false;
    },
    finish(isOver) {
      if (!isOver && finish === "") return undefined;
      const found = calls.finish();
      return {
        content: [
          ...toThinking(reasoning),
          ...(text === "" ? [] : [{ type: "text", text } as const]),
          ...found,
        ],
        stop: stopOf(finish, found.length > 0, refusal),
        usage: toUsage(
          numberOf(usage, "prompt_tokens"),
          numberOf(usage, "prompt_tokens_details", "cached_tokens") ||
            numberOf(usage, "prompt_cache_hit_tokens"),
          numberOf(usage, "completion_tokens"),
          numberOf(usage, "completion_tokens_details", "reasoning_tokens"),
        ),
        detail: refusal,
      };
    },
  };
}

function toThinking({ field, text, details }: { field: string; text: string; details: unknown[] }) {
  if (text === "" && details.length === 0) return [];
  const data = {
    ...(field !== "" && { [field]: text }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
  return [{ type: "thinking", text, native: { api: NAME, data } } as const];
}

/** Servers use their own words for the end of an answer: some send `stop` with calls, some `STOP` or `eos`. */
function stopOf(finish: string, hasCalls: boolean, refusal: string): StopReason {
  if (/error|insufficient/i.test(finish)) throw new ApiError("server", `the answer is incomplete: ${finish}`);
  if (refusal !== "" || /filter|safety|refus|guardrail|sensitive|block/i.test(finish)) return "refusal";
  if (/length|max_tokens/i.test(finish)) return "output_limit";
  return hasCalls ? "tool_calls" : "end";
}
