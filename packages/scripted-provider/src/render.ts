import { pieces } from "./pieces.ts";
import type { ApiName, ScriptedPart, ScriptedTurn, ScriptedUsage } from "./script.ts";
import { argsText } from "./strict/gemini.ts";
import { signatureOf } from "./strict/rules.ts";

const USAGE: ScriptedUsage = { input: 1_000, cached: 600, output: 50 };

/** The events of a turn in the format of each provider's server. */
export const RENDERERS: Readonly<Record<ApiName, (turn: ScriptedTurn, ids: Ids) => readonly string[]>> = {
  anthropic: renderAnthropic,
  openai: renderResponses,
  "openai-chat": renderChat,
  gemini: renderGemini,
};

/** Gives every call a unique id. */
export interface Ids {
  next(prefix: string): string;
}

const named = (event: { readonly type: string }) =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const plain = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
const argumentsOf = (part: Extract<ScriptedPart, { call: string }>) =>
  typeof part.input === "string" ? part.input : JSON.stringify(part.input);
const hasCalls = ({ parts = [] }: ScriptedTurn) => parts.some((part) => "call" in part);

function renderAnthropic(turn: ScriptedTurn, ids: Ids): string[] {
  const { parts = [], usage = USAGE, stop } = turn;
  const message = {
    id: ids.next("msg_"),
    type: "message",
    role: "assistant",
    model: "scripted",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: usage.input - usage.cached,
      cache_read_input_tokens: usage.cached,
      cache_creation_input_tokens: 0,
      output_tokens: 1,
    },
  };
  const reason =
    stop === "refusal"
      ? "refusal"
      : stop === "output_limit"
        ? "max_tokens"
        : hasCalls(turn)
          ? "tool_use"
          : "end_turn";
  return [
    named({ type: "message_start", ...{ message } }),
    named({ type: "ping" }),
    ...parts.flatMap((part, index) => anthropicBlock(part, index, ids)),
    named({
      type: "message_delta",
      ...{ delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: usage.output } },
    }),
    named({ type: "message_stop" }),
  ];
}

function anthropicBlock(part: ScriptedPart, index: number, ids: Ids): string[] {
  const [content_block, deltas] = anthropicParts(part, ids);
  return [
    named({ type: "content_block_start", ...{ index, content_block } }),
    ...deltas.map((delta) => named({ type: "content_block_delta", ...{ index, delta } })),
    named({ type: "content_block_stop", ...{ index } }),
  ];
}

function anthropicParts(part: ScriptedPart, ids: Ids): [unknown, unknown[]] {
  if ("thinking" in part)
    return [
      { type: "thinking", thinking: "", signature: "" },
      [
        ...pieces(part.thinking).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: signatureOf(part.thinking) },
      ],
    ];
  if ("text" in part)
    return [{ type: "text", text: "" }, pieces(part.text).map((text) => ({ type: "text_delta", text }))];
  return [
    { type: "tool_use", id: part.id ?? ids.next("toolu_"), name: part.call, input: {} },
    ["", ...pieces(argumentsOf(part))].map((partial_json) => ({ type: "input_json_delta", partial_json })),
  ];
}

function renderResponses(turn: ScriptedTurn, ids: Ids): string[] {
  const { parts = [], usage = USAGE, stop } = turn;
  const id = ids.next("resp_");
  const base = {
    id,
    object: "response",
    created_at: 0,
    model: "scripted",
    output: [],
    status: "in_progress",
  };
  const made = parts.map((part, index) => responsesItem(part, index, ids));
  const isCut = stop === "output_limit" || stop === "refusal";
  const last = {
    ...base,
    output: made.map(({ item }) => item),
    status: isCut ? "incomplete" : "completed",
    incomplete_details: isCut
      ? { reason: stop === "output_limit" ? "max_output_tokens" : "content_filter" }
      : null,
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    },
  };
  const events = [
    { type: "response.created", response: base },
    { type: "response.in_progress", response: base },
    ...made.flatMap(({ events: own }) => own),
    { type: isCut ? "response.incomplete" : "response.completed", response: last },
  ];
  return events.map((event, sequence_number) => named({ ...event, ...{ sequence_number } }));
}

function responsesItem(part: ScriptedPart, output_index: number, ids: Ids) {
  const [open, item, between] = responsesParts(part, ids);
  const at = { output_index, item_id: fieldId(item) };
  return {
    item,
    events: [
      { type: "response.output_item.added", output_index, item: open },
      ...between.map((event) => ({ ...event, ...at })),
      { type: "response.output_item.done", output_index, item },
    ],
  };
}

const fieldId = (item: { readonly id: string }) => item.id;

function responsesParts(part: ScriptedPart, ids: Ids): [{ id: string }, { id: string }, { type: string }[]] {
  if ("thinking" in part) {
    const item = {
      ...{ id: ids.next("rs_"), type: "reasoning", encrypted_content: signatureOf(part.thinking) },
      summary: [{ type: "summary_text", text: part.thinking }],
    };
    const deltas = pieces(part.thinking).map((delta) => ({
      ...{ type: "response.reasoning_summary_text.delta", summary_index: 0, delta },
    }));
    const added = { type: "response.reasoning_summary_part.added", summary_index: 0 };
    return [{ ...item, ...{ summary: [] } }, item, [{ ...added, ...{ part: item.summary[0] } }, ...deltas]];
  }
  if ("text" in part) {
    const content = { type: "output_text", text: part.text, annotations: [], logprobs: [] };
    const item = { id: ids.next("msg_"), type: "message", role: "assistant", status: "completed" };
    const events = [
      { type: "response.content_part.added", content_index: 0, part: { ...content, text: "" } },
      ...pieces(part.text).map((delta) => ({
        ...{ type: "response.output_text.delta", content_index: 0, delta, logprobs: [] },
      })),
      { type: "response.output_text.done", content_index: 0, text: part.text, logprobs: [] },
      { type: "response.content_part.done", content_index: 0, part: content },
    ];
    return [{ ...item, ...{ content: [] } }, { ...item, ...{ content: [content] } }, events];
  }
  const text = argumentsOf(part);
  const call = {
    ...{ id: ids.next("fc_"), type: "function_call", call_id: part.id ?? ids.next("call_") },
    ...{ name: part.call, status: "completed" },
  };
  const events = [
    ...pieces(text).map((delta) => ({ ...{ type: "response.function_call_arguments.delta", delta } })),
    { type: "response.function_call_arguments.done", arguments: text, name: part.call },
  ];
  return [{ ...call, ...{ arguments: "" } }, { ...call, ...{ arguments: text } }, events];
}

function renderChat(turn: ScriptedTurn, ids: Ids): string[] {
  const { parts = [], usage = USAGE, stop } = turn;
  const base = { id: ids.next("chatcmpl_"), object: "chat.completion.chunk", created: 0, model: "scripted" };
  const chunk = (delta: unknown, finish_reason: string | null = null) =>
    plain({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  let index = -1;
  const deltas = parts.flatMap((part): unknown[] => {
    if ("thinking" in part) return pieces(part.thinking).map((reasoning_content) => ({ reasoning_content }));
    if ("text" in part) return pieces(part.text).map((content) => ({ content }));
    index += 1;
    const at = index;
    const first = {
      ...{ index: at, id: part.id ?? ids.next("call_"), type: "function" },
      function: { name: part.call, arguments: "" },
    };
    return [
      { tool_calls: [first] },
      ...pieces(argumentsOf(part)).map((text) => ({
        tool_calls: [{ index: at, function: { arguments: text } }],
      })),
    ];
  });
  const finish =
    stop === "refusal"
      ? "content_filter"
      : stop === "output_limit"
        ? "length"
        : index >= 0
          ? "tool_calls"
          : "stop";
  const counted = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
  };
  return [
    chunk({ role: "assistant", content: "" }),
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, finish),
    plain({ ...base, choices: [], usage: counted }),
    "data: [DONE]\n\n",
  ];
}

function renderGemini(turn: ScriptedTurn): string[] {
  const { parts = [], usage = USAGE, stop } = turn;
  const contents = parts.flatMap((part): unknown[] => {
    if ("thinking" in part) return pieces(part.thinking).map((text) => ({ text, thought: true }));
    if ("text" in part) return pieces(part.text).map((text) => ({ text }));
    const args = typeof part.input === "string" ? {} : part.input;
    const thoughtSignature = signatureOf(argsText(args));
    return [{ functionCall: { name: part.call, args }, thoughtSignature }];
  });
  const usageMetadata = {
    promptTokenCount: usage.input,
    cachedContentTokenCount: usage.cached,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output,
  };
  const finishReason = stop === "refusal" ? "SAFETY" : stop === "output_limit" ? "MAX_TOKENS" : "STOP";
  const chunk = (part: unknown) =>
    plain({ candidates: [{ index: 0, content: { role: "model", parts: [part] } }] });
  return [
    ...contents.map(chunk),
    plain({
      candidates: [{ index: 0, content: { role: "model", parts: [{ text: "" }] }, finishReason }],
      usageMetadata,
    }),
  ];
}
