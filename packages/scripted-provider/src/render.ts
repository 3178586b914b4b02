import { pieces } from "./pieces.ts";
import type { ApiName, ScriptedPart, ScriptedSource, ScriptedTurn, ScriptedUsage } from "./script.ts";
import { argsText, SEARCH_TYPE } from "./strict/gemini.ts";
import { searchProof } from "./strict/openai-responses.ts";
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
      : stop === "pause"
        ? "pause_turn"
        : stop === "output_limit"
          ? "max_tokens"
          : hasCalls(turn)
            ? "tool_use"
            : "end_turn";
  return [
    named({ type: "message_start", ...{ message } }),
    named({ type: "ping" }),
    ...parts
      .flatMap((part) => anthropicParts(part, ids))
      .flatMap((block, index) => anthropicBlock(block, index)),
    named({
      type: "message_delta",
      ...{
        delta: { stop_reason: reason, stop_sequence: null },
        usage: { output_tokens: usage.output, ...searchUsage(parts) },
      },
    }),
    named({ type: "message_stop" }),
  ];
}

const searchUsage = (parts: readonly ScriptedPart[]) => {
  const web_search_requests = parts.filter((part) => "search" in part).length;
  return web_search_requests > 0 ? { server_tool_use: { web_search_requests } } : {};
};

type AnthropicBlock = readonly [block: unknown, deltas: readonly unknown[]];

function anthropicBlock([content_block, deltas]: AnthropicBlock, index: number): string[] {
  return [
    named({ type: "content_block_start", ...{ index, content_block } }),
    ...deltas.map((delta) => named({ type: "content_block_delta", ...{ index, delta } })),
    named({ type: "content_block_stop", ...{ index } }),
  ];
}

function anthropicParts(part: ScriptedPart, ids: Ids): AnthropicBlock[] {
  if ("thinking" in part)
    return [
      [
        { type: "thinking", thinking: "", signature: "" },
        [
          ...pieces(part.thinking).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: signatureOf(part.thinking) },
        ],
      ],
    ];
  if ("text" in part) {
    const deltas = pieces(part.text).map((text) => ({ type: "text_delta", text }));
    const cited = part.cites ? [{ type: "citations_delta", citation: anthropicCitation(part.cites) }] : [];
    return [[{ type: "text", text: "" }, [...deltas, ...cited]]];
  }
  if ("found" in part) return [anthropicFound(part.id, part.found)];
  if ("search" in part) {
    const id = part.id ?? ids.next("srvtoolu_");
    const input = jsonDeltas(JSON.stringify({ query: part.search }));
    const asked: AnthropicBlock = [{ type: "server_tool_use", id, name: "web_search", input: {} }, input];
    return part.sources ? [asked, anthropicFound(id, part.sources)] : [asked];
  }
  const id = part.id ?? ids.next("toolu_");
  return [[{ type: "tool_use", id, name: part.call, input: {} }, jsonDeltas(argumentsOf(part))]];
}

const jsonDeltas = (json: string) =>
  ["", ...pieces(json)].map((partial_json) => ({ type: "input_json_delta", partial_json }));

const anthropicFound = (tool_use_id: string, sources: readonly ScriptedSource[]): AnthropicBlock => [
  {
    type: "web_search_tool_result",
    tool_use_id,
    content: sources.map(({ title, url }) => ({
      ...{ type: "web_search_result", title, url, page_age: null },
      encrypted_content: signatureOf(`${title}\n${url}`),
    })),
  },
  [],
];

const anthropicCitation = ({ title, url }: ScriptedSource) => ({
  ...{ type: "web_search_result_location", title, url, cited_text: title },
  encrypted_index: signatureOf(`${title}\n${url}`),
});

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
  const made = parts
    .flatMap((part) => ("found" in part ? [] : [part]))
    .map((part, index) => responsesItem(part, index, ids));
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

function responsesItem(part: Exclude<ScriptedPart, { found: unknown }>, output_index: number, ids: Ids) {
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

function responsesParts(
  part: Exclude<ScriptedPart, { found: unknown }>,
  ids: Ids,
): [{ id: string }, { id: string }, { type: string }[]] {
  if ("search" in part) {
    const { search: query, sources = [] } = part;
    const found = sources.map(({ url }) => ({ type: "url", url }));
    const action = { type: "search", query, queries: [query], sources: found };
    // The real API has its own record of a search; here its id is the proof that it came back as it was.
    const id = ids.next(`ws_${searchProof(action)}_`);
    const item = { id, type: "web_search_call", status: "completed", action };
    const steps = ["in_progress", "searching", "completed"];
    return [
      { ...item, ...{ status: "in_progress" } },
      item,
      steps.map((step) => ({ type: `response.web_search_call.${step}` })),
    ];
  }
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
    const { text, cites } = part;
    const at = { start_index: 0, end_index: text.length };
    const annotations = cites ? [{ type: "url_citation", ...at, ...cites }] : [];
    const content = { type: "output_text", text, annotations, logprobs: [] };
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
    ...(part.namespace !== undefined && { namespace: part.namespace }),
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
    if ("search" in part || "found" in part) return [];
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

function renderGemini(turn: ScriptedTurn, ids: Ids): string[] {
  const { parts = [], usage = USAGE, stop } = turn;
  const contents = parts.flatMap((part): unknown[] => {
    if ("thinking" in part) return pieces(part.thinking).map((text) => ({ text, thought: true }));
    if ("text" in part) return pieces(part.text).map((text) => ({ text }));
    if ("found" in part) return [];
    if ("search" in part) return geminiSearch(part.search, ids);
    const args = typeof part.input === "string" ? {} : part.input;
    const thoughtSignature = signatureOf(argsText(args));
    const id = part.id === undefined ? {} : { id: part.id };
    return [{ functionCall: { ...id, name: part.call, args }, thoughtSignature }];
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
  const last = { index: 0, content: { role: "model", parts: [{ text: "" }] }, finishReason };
  return [
    ...contents.map(chunk),
    plain({ candidates: [{ ...last, ...geminiGrounding(parts) }], usageMetadata }),
  ];
}

/** A search beside functions: a signed call, and a response that has no sources. */
function geminiSearch(query: string, ids: Ids): unknown[] {
  const at = { id: ids.next("search_"), toolType: SEARCH_TYPE };
  const toolCall = { ...at, args: { queries: [query] } };
  const toolResponse = { ...at, response: { search_suggestions: `<div>${query}</div>` } };
  return [
    { toolCall, thoughtSignature: signatureOf(argsText(toolCall)) },
    { toolResponse, thoughtSignature: signatureOf(argsText(toolResponse)) },
  ];
}

/** A response lists sources beside its parts; without functions, only the sources show that the model searched. */
function geminiGrounding(parts: readonly ScriptedPart[]) {
  const webSearchQueries = parts.flatMap((part) => ("search" in part ? [part.search] : []));
  const sources = parts.flatMap((part) => {
    if ("search" in part) return part.sources ?? [];
    return "text" in part && part.cites ? [part.cites] : [];
  });
  if (sources.length === 0) return {};
  const groundingChunks = sources.map(({ title, url }) => ({ web: { title, uri: url } }));
  return { groundingMetadata: { webSearchQueries, groundingChunks } };
}
