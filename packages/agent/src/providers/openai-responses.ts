import type { Delta, Model, StopReason } from "../api-client.ts";
import { ApiError } from "../api-error.ts";
import {
  type AssistantPart,
  type Message,
  type ToolMessage,
  textOf,
  type UserPart,
  type WebSearchPart,
} from "../messages.ts";
import { searchesOf } from "../usage.ts";
import { forSearching, toSearchDelta } from "../web-search.ts";
import { toStreamError } from "./failures.ts";
import type { Api, Reader } from "./http-client.ts";
import { responsesReasoning } from "./thinking.ts";
import { fieldOf, listOf, nativeOf, numberOf, stringOf, toUsage } from "./wire.ts";

const NAME = "openai-responses";

/** OpenAI Responses. Nothing is stored there: reasoning comes encrypted and is sent back. */
export const openaiResponses: Api = {
  path: () => "/responses",
  // 10 dollars for 1,000 searches, and the tokens of the results, by second-hand sources of November 2026.
  searchPrice: () => 0.01,
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
    tools: [
      // First, because new tools come last.
      ...(model.web_search ? [{ type: "web_search" }] : []),
      ...request.tools.map(({ name, description, input_schema }) => ({
        type: "function",
        name,
        description,
        parameters: input_schema,
        strict: false,
      })),
    ],
    input: items,
  }),
  createReader,
};

function toItems(message: Message, { web_search = false }: Model): unknown[] {
  if (message.role === "user") return [{ role: "user", content: message.content.map(toInput) }];
  if (message.role === "tool") return message.results.map(toOutputItem);
  const own = web_search ? NAME : undefined;
  return forSearching(message.content, own).flatMap((part) => toAssistantItems(part, web_search));
}

const toInput = (part: UserPart) =>
  part.type === "text"
    ? { type: "input_text", text: part.text }
    : { type: "input_image", detail: "auto", image_url: `data:${part.mime};base64,${part.data}` };

const toOutputItem = ({ call_id, content }: ToolMessage["results"][number]) => ({
  type: "function_call_output",
  call_id,
  output: content.every(({ type }) => type === "text") ? textOf(content) : content.map(toInput),
});

function toAssistantItems(part: AssistantPart, searches: boolean): unknown[] {
  const own = nativeOf(part, NAME);
  // Reasoning is not stored there, so without its content it cannot be found.
  if (part.type === "thinking") return stringOf(own, "encrypted_content") === "" ? [] : [own];
  if (part.type === "web_search") return [own];
  if (part.type === "text") {
    if (part.text === "") return [];
    const phase = fieldOf(own, "phase");
    const content = [
      { type: "output_text", text: part.text, annotations: searches ? listOf(own, "annotations") : [] },
    ];
    return [{ type: "message", role: "assistant", content, ...(phase !== undefined && { phase }) }];
  }
  return [{ type: "function_call", call_id: part.id, name: part.name, arguments: part.arguments }];
}

interface Item {
  readonly type: string;
  readonly callId: string;
  readonly name: string;
  text: string;
  /** The item in its final state. */
  whole?: unknown;
}

/** The events that add to an item, and what they add to. */
const DELTAS: ReadonlyMap<string, "text" | "thinking" | "call"> = new Map([
  ["response.output_text.delta", "text"],
  ["response.refusal.delta", "text"],
  ["response.reasoning_summary_text.delta", "thinking"],
  ["response.reasoning_text.delta", "thinking"],
  ["response.function_call_arguments.delta", "call"],
]);
const ENDINGS: readonly string[] = ["response.completed", "response.incomplete", "response.failed"];

function createReader(provider: string): Reader {
  const items = new Map<string, Item>();
  let response: unknown;
  let ending = "";
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
  function* grow(key: string, kind: "text" | "thinking" | "call", text: string): Generator<Delta> {
    const item = items.get(key);
    if (item) item.text += text;
    if (text === "") return;
    if (kind === "call") yield { type: "call_delta", call_id: item?.callId ?? "", text };
    else yield { type: `${kind}_delta`, text };
  }

  return {
    *read(event) {
      // On some gateways ids change between the events of one item; its index in the output does not.
      const key = keyOf(event);
      const type = stringOf(event, "type");
      const kind = DELTAS.get(type);
      if (kind) yield* grow(key, kind, stringOf(event, "delta"));
      if (type === "response.refusal.delta") refusal += stringOf(event, "delta");
      if (type === "response.reasoning_summary_part.added" && numberOf(event, "summary_index") > 0)
        yield* grow(key, "thinking", "\n\n");
      if (type === "response.output_item.added") {
        const { type: added, callId, name } = begin(key, fieldOf(event, "item"));
        if (added === "function_call") yield { type: "call_delta", call_id: callId, name, text: "" };
      }
      if (type === "response.output_item.done") {
        const item = items.get(key) ?? begin(key, fieldOf(event, "item"));
        item.whole = fieldOf(event, "item");
        const search = item.type === SEARCH ? toSearch(item.whole) : undefined;
        if (search) yield toSearchDelta(search);
      }
      if (!ENDINGS.includes(type)) return false;
      ending = type;
      response = fieldOf(event, "response");
      return true;
    },
    finish() {
      if (ending === "") return undefined;
      if (ending === "response.failed") throw toStreamError(provider, fieldOf(response, "error"));
      const content = [...items]
        .sort(([a], [b]) => Number(a) - Number(b))
        .flatMap(([, item]) => toParts(item));
      const why = stringOf(response, "incomplete_details", "reason");
      return {
        content,
        stop: stopOf(ending, why, refusal, content),
        usage: {
          ...toUsage(
            numberOf(response, "usage", "input_tokens"),
            numberOf(response, "usage", "input_tokens_details", "cached_tokens"),
            numberOf(response, "usage", "output_tokens"),
            numberOf(response, "usage", "output_tokens_details", "reasoning_tokens"),
          ),
          ...searchesOf([...items.values()].filter(isBilled).length),
        },
        detail: refusal,
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
      const annotations = listOf(whole, "content").flatMap((part) => listOf(part, "annotations"));
      const data = {
        ...(phase !== undefined && { phase }),
        ...(annotations.length > 0 && { annotations }),
      };
      const native = Object.keys(data).length === 0 ? {} : { native: { api: NAME, data } };
      return said || text ? [{ type: "text", text: said || text, ...native }] : [];
    }
    case "reasoning":
      return whole === undefined
        ? []
        : [{ type: "thinking", text, native: { api: NAME, data: toReasoning(whole) } }];
    case SEARCH:
      return whole === undefined ? [] : [toSearch(whole)];
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

const SEARCH = "web_search_call";

/** Only questions are billed, not the pages that the model opens. */
const isBilled = ({ type, whole }: Item): boolean =>
  type === SEARCH && stringOf(whole, "action", "type") === "search";

/** A search, or a page that it opened. */
function toSearch(item: unknown): WebSearchPart {
  const query = stringOf(item, "action", "query");
  const several = listOf(item, "action", "queries").filter((one) => typeof one === "string");
  const page = stringOf(item, "action", "url");
  const found = listOf(item, "action", "sources").map((source) => stringOf(source, "url"));
  return {
    type: "web_search",
    search_id: stringOf(item, "id"),
    done: true,
    queries: several.length > 0 || query === "" ? several : [query],
    sources: [page, ...found].filter((url) => url !== "").map((url) => ({ title: "", url })),
    ...(stringOf(item, "status") === "failed" && { error: "failed" }),
    native: { api: NAME, data: item },
  };
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
  if (refusal !== "") return "refusal";
  return content.some(({ type }) => type === "tool_call") ? "tool_calls" : "end";
}
