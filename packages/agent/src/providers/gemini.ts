import { randomUUID } from "node:crypto";
import type { StopReason, StreamEvent } from "../api-client.ts";
import { ApiError } from "../api-error.ts";
import { type AssistantPart, type Message, type ToolMessage, textOf, type UserPart } from "../messages.ts";
import { parseArguments } from "../run-calls.ts";
import type { Usage } from "../usage.ts";
import { brokenStream, toStreamError } from "./failures.ts";
import { type Api, parseData, type Reader } from "./http-client.ts";
import { fieldOf, listOf, numberOf, stringOf } from "./json.ts";
import { createPartialArgs } from "./partial-args.ts";
import { geminiThinking } from "./thinking.ts";

const NAME = "gemini";

/** Google Gemini, `streamGenerateContent`. */
export const gemini: Api = {
  path: ({ id }) => `/v1beta/models/${encodeURIComponent(id)}:streamGenerateContent?alt=sse`,
  toItems: (message) => [toContent(message)].filter(({ parts }) => parts.length > 0),
  body: (request, model, items) => ({
    ...(request.system !== "" && { systemInstruction: { parts: [{ text: request.system }] } }),
    generationConfig: {
      maxOutputTokens: request.max_output_tokens ?? model.max_output_tokens,
      ...geminiThinking(model),
      ...(request.output_schema && {
        responseMimeType: "application/json",
        responseJsonSchema: request.output_schema,
      }),
    },
    ...(request.tools.length > 0 && {
      tools: [
        {
          functionDeclarations: request.tools.map(({ name, description, input_schema }) => ({
            name,
            description,
            parametersJsonSchema: input_schema,
          })),
        },
      ],
    }),
    contents: items,
  }),
  createReader,
};

function toContent(message: Message): { role: string; parts: unknown[] } {
  if (message.role === "user") return { role: "user", parts: message.content.map(toUserPart) };
  if (message.role === "tool") return { role: "user", parts: message.results.flatMap(toResponseParts) };
  return { role: "model", parts: message.content.flatMap(toModelParts) };
}

const toUserPart = (part: UserPart) =>
  part.type === "text" ? { text: part.text } : { inlineData: { mimeType: part.mime, data: part.data } };

function toResponseParts({ name, content, is_error }: ToolMessage["results"][number]): unknown[] {
  const response = is_error ? { error: textOf(content) } : { output: textOf(content) };
  const images = content.filter(({ type }) => type === "image");
  return [{ functionResponse: { name, response } }, ...images.map(toUserPart)];
}

function toModelParts(part: AssistantPart): unknown[] {
  const own = part.native?.api === NAME ? part.native.data : undefined;
  if (part.type === "thinking") return own ? [own] : [];
  const signature = fieldOf(own, "thoughtSignature");
  const signed = signature === undefined ? {} : { thoughtSignature: signature };
  if (part.type === "text") return part.text === "" && !own ? [] : [{ text: part.text, ...signed }];
  const args = parseArguments(part.arguments);
  return [{ functionCall: { name: part.name, args: args instanceof Error ? {} : args }, ...signed }];
}

/** Stop reasons that are reported as a refusal, in addition to those of the prompt itself. */
const REFUSALS = /SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED|SPII/;
/** The model wrote something that the API could not parse; a retry may succeed. */
const MALFORMED = /MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MALFORMED_RESPONSE/;

function createReader(provider: string): Reader {
  const parts: AssistantPart[] = [];
  const partial = createPartialArgs();
  let finish = "";
  let blocked = "";
  let usage: unknown;

  function* addText(text: string, isThought: boolean, signature: unknown): Generator<StreamEvent> {
    const type = isThought ? "thinking" : "text";
    const last = parts.at(-1);
    const native =
      signature === undefined ? {} : { native: { api: NAME, data: toNative(type, text, signature) } };
    // A signed part stays unchanged; text around it may grow.
    if (last?.type === type && !last.native && signature === undefined)
      parts[parts.length - 1] = { ...last, text: last.text + text };
    else if (text !== "" || signature !== undefined) parts.push({ type, text, ...native });
    if (text !== "") yield { type, text };
  }
  function* addCall(name: string, args: string, signature: unknown): Generator<StreamEvent> {
    const id = `call_${randomUUID()}`;
    const native =
      signature === undefined ? {} : { native: { api: NAME, data: { thoughtSignature: signature } } };
    parts.push({ type: "tool_call", id, name, arguments: args, ...native });
    yield { type: "call_begin", call_id: id, name };
    yield { type: "call_arguments", call_id: id, text: args };
  }
  function* readPart(part: unknown): Generator<StreamEvent> {
    const signature = fieldOf(part, "thoughtSignature");
    const call = fieldOf(part, "functionCall");
    if (call !== undefined) {
      const whole = partial.add(call, signature);
      if (whole) yield* addCall(whole.name, whole.arguments, whole.signature);
    } else if (fieldOf(part, "text") !== undefined || signature !== undefined)
      yield* addText(stringOf(part, "text"), fieldOf(part, "thought") === true, signature);
  }

  return {
    *read(frame) {
      const chunk = parseData(frame);
      const error = fieldOf(chunk, "error");
      if (error) throw toStreamError(provider, error);
      const [candidate] = listOf(chunk, "candidates");
      for (const part of listOf(fieldOf(candidate, "content"), "parts")) yield* readPart(part);
      finish = stringOf(candidate, "finishReason") || finish;
      blocked = stringOf(fieldOf(chunk, "promptFeedback"), "blockReason") || blocked;
      usage = fieldOf(chunk, "usageMetadata") ?? usage;
    },
    state: () => (finish === "" && blocked === "" ? "open" : "complete"),
    *end() {
      if (finish === "" && blocked === "") throw brokenStream("it ended before the answer was complete");
      if (MALFORMED.test(finish)) throw new ApiError("broken", `${provider} stopped with ${finish}`);
      const stop = stopOf(finish, blocked, parts);
      yield {
        type: "done",
        message: { role: "assistant", content: parts },
        stop,
        usage: toUsage(usage),
        ...(stop === "refusal" && { detail: blocked || finish }),
      };
    },
  };
}

const toNative = (type: string, text: string, thoughtSignature: unknown) =>
  type === "thinking" ? { text, thought: true, thoughtSignature } : { thoughtSignature };

function stopOf(finish: string, blocked: string, parts: readonly AssistantPart[]): StopReason {
  if (blocked !== "" || REFUSALS.test(finish)) return "refusal";
  if (parts.some(({ type }) => type === "tool_call")) return "tool_calls";
  return finish === "MAX_TOKENS" ? "output_limit" : "end";
}

function toUsage(usage: unknown): Usage {
  const cached = numberOf(usage, "cachedContentTokenCount");
  const thoughts = numberOf(usage, "thoughtsTokenCount");
  return {
    input_tokens: Math.max(0, numberOf(usage, "promptTokenCount") - cached),
    cache_read_tokens: cached,
    cache_write_tokens: 0,
    output_tokens: numberOf(usage, "candidatesTokenCount") + thoughts,
    reasoning_tokens: thoughts,
  };
}
