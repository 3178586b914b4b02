import { randomUUID } from "node:crypto";
import type { Delta, Model, ModelRequest, StopReason } from "../api-client.ts";
import { ApiError } from "../api-error.ts";
import { type AssistantPart, type Message, type ToolMessage, textOf, type UserPart } from "../messages.ts";
import { searchesOf } from "../usage.ts";
import { forSearching } from "../web-search.ts";
import { createSearches } from "./gemini-search.ts";
import type { Api, Reader } from "./http-client.ts";
import { geminiThinking } from "./thinking.ts";
import { fieldOf, inputOf, listOf, nativeOf, numberOf, stringOf, toUsage } from "./wire.ts";

const NAME = "gemini";

/** Google Gemini, `streamGenerateContent`. */
export const gemini: Api = {
  path: ({ id }) => `/v1beta/models/${encodeURIComponent(id)}:streamGenerateContent?alt=sse`,
  // https://ai.google.dev/gemini-api/docs/pricing: 14 dollars for 1,000 queries of version 3.
  searchPrice: (model) => (isBeforeVersion3(model) ? undefined : 0.014),
  toItems: (message, model) => [toContent(message, model)].filter(({ parts }) => parts.length > 0),
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
    ...toTools(request.tools, model),
    contents: items,
  }),
  createReader,
};

/** Version 2 refuses its own search beside functions, and so does version 3 unless it may report its searches. */
function toTools(tools: ModelRequest["tools"], { web_search = false }: Model) {
  const functionDeclarations = tools.map(({ name, description, input_schema }) => ({
    name,
    description,
    parametersJsonSchema: input_schema,
  }));
  const all = [
    ...(web_search ? [{ googleSearch: {} }] : []),
    ...(tools.length > 0 ? [{ functionDeclarations }] : []),
  ];
  return {
    ...(all.length > 0 && { tools: all }),
    ...(all.length > 1 && { toolConfig: { includeServerSideToolInvocations: true } }),
  };
}

function toContent(message: Message, model: Model): { role: string; parts: unknown[] } {
  const { web_search = false } = model;
  if (message.role === "user") return { role: "user", parts: message.content.map(toUserPart) };
  if (message.role === "tool")
    return { role: "user", parts: message.results.flatMap((result) => toResponseParts(result, web_search)) };
  const parts = forSearching(message.content, web_search ? NAME : undefined);
  return {
    role: "model",
    parts: signFirstCall(
      parts.flatMap((part) => toModelParts(part, web_search)),
      model,
    ),
  };
}

const toUserPart = (part: UserPart) =>
  part.type === "text" ? { text: part.text } : { inlineData: { mimeType: part.mime, data: part.data } };

/** Beside searches, calls and their responses are matched by id; without them the API needs none. */
function toResponseParts(
  { call_id, name, content, is_error }: ToolMessage["results"][number],
  hasIds: boolean,
): unknown[] {
  const response = is_error ? { error: textOf(content) } : { output: textOf(content) };
  const images = content.filter(({ type }) => type === "image");
  return [
    { functionResponse: { ...(hasIds && { id: call_id }), name, response } },
    ...images.map(toUserPart),
  ];
}

function toModelParts(part: AssistantPart, hasIds: boolean): unknown[] {
  const own = nativeOf(part, NAME);
  if (part.type === "thinking") return own ? [own] : [];
  // A search that is known from its sources alone was no part of the answer.
  if (part.type === "web_search") return own ? [own] : [];
  const signature = fieldOf(own, "thoughtSignature");
  const signed = signature === undefined ? {} : { thoughtSignature: signature };
  if (part.type === "text") return part.text === "" && !own ? [] : [{ text: part.text, ...signed }];
  const id = hasIds && { id: part.id };
  return [{ functionCall: { ...id, name: part.name, args: inputOf(part) }, ...signed }];
}

/** The signature that Google documents for calls made by another model. */
const UNSIGNED = { thoughtSignature: "skip_thought_signature_validator" };

const isBeforeVersion3 = ({ id }: Model): boolean => /gemini-[12]\b/.test(id);

/** Since version 3 the first call of an answer needs a signature. */
function signFirstCall(parts: unknown[], model: Model): unknown[] {
  const at = parts.findIndex((part) => fieldOf(part, "functionCall") !== undefined);
  const first = parts[at];
  if (!first || fieldOf(first, "thoughtSignature") !== undefined || isBeforeVersion3(model)) return parts;
  return parts.with(at, { ...first, ...UNSIGNED });
}

/** All others are refusals: SAFETY, RECITATION, BLOCKLIST and their like, of which new ones come. */
const COMPLETE: readonly string[] = ["", "STOP", "FINISH_REASON_UNSPECIFIED"];
const CUT = "MAX_TOKENS";
/** The model wrote something that the API could not parse; a retry may succeed. */
const MALFORMED = /MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MALFORMED_RESPONSE/;

function createReader(provider: string): Reader {
  const parts: AssistantPart[] = [];
  const partial = createPartialArgs();
  const searches = createSearches(NAME, parts);
  let finish = "";
  let blocked = "";
  let usage: unknown;

  function* addText(text: string, isThought: boolean, signature: unknown): Generator<Delta> {
    const type = isThought ? "thinking" : "text";
    const last = parts.at(-1);
    // A signed part stays unchanged; text around it may grow.
    if (last?.type === type && !last.native && signature === undefined)
      parts[parts.length - 1] = { ...last, text: last.text + text };
    else if (text !== "" || signature !== undefined)
      parts.push({ type, text, ...signedBy(signature, isThought ? { text, thought: true } : {}) });
    if (text !== "") yield { type: `${type}_delta`, text };
  }
  function* readPart(part: unknown): Generator<Delta> {
    const signature = fieldOf(part, "thoughtSignature");
    const call = fieldOf(part, "functionCall");
    if (searches.isStep(part)) yield* searches.readStep(part);
    else if (call !== undefined) {
      const whole = partial.add(call, signature);
      if (!whole) return;
      const { name, arguments: text } = whole;
      const id = whole.id || `call_${randomUUID()}`;
      parts.push({ type: "tool_call", id, name, arguments: text, ...signedBy(whole.signature) });
      yield { type: "call_delta", call_id: id, name, text };
    } else if (fieldOf(part, "text") !== undefined || signature !== undefined)
      yield* addText(stringOf(part, "text"), fieldOf(part, "thought") === true, signature);
  }

  return {
    *read(chunk) {
      const [candidate] = listOf(chunk, "candidates");
      for (const part of listOf(candidate, "content", "parts")) yield* readPart(part);
      yield* searches.readGrounding(fieldOf(candidate, "groundingMetadata"));
      finish = stringOf(candidate, "finishReason") || finish;
      blocked = stringOf(chunk, "promptFeedback", "blockReason") || blocked;
      usage = fieldOf(chunk, "usageMetadata") ?? usage;
      return false;
    },
    finish() {
      if (finish === "" && blocked === "") return undefined;
      if (MALFORMED.test(finish)) throw new ApiError("broken", `${provider} stopped with ${finish}`);
      const stop = stopOf(finish, blocked, parts);
      const thoughts = numberOf(usage, "thoughtsTokenCount");
      return {
        content: parts,
        stop,
        usage: {
          ...toUsage(
            numberOf(usage, "promptTokenCount"),
            numberOf(usage, "cachedContentTokenCount"),
            numberOf(usage, "candidatesTokenCount") + thoughts,
            thoughts,
          ),
          ...searchesOf(searches.count()),
        },
        detail: stop === "refusal" ? blocked || finish : "",
      };
    },
  };
}

const signedBy = (thoughtSignature: unknown, data = {}) =>
  thoughtSignature === undefined ? {} : { native: { api: NAME, data: { ...data, thoughtSignature } } };

function stopOf(finish: string, blocked: string, parts: readonly AssistantPart[]): StopReason {
  if (blocked !== "") return "refusal";
  if (finish === CUT) return "output_limit";
  if (!COMPLETE.includes(finish)) return "refusal";
  return parts.some(({ type }) => type === "tool_call") ? "tool_calls" : "end";
}

/**
 * Gemini sends a call whole, or in pieces: first its name with `willContinue`, then values with their paths, finally
 * an empty object.
 */
function createPartialArgs() {
  let id = "";
  let name = "";
  let args: Record<string, unknown> = {};
  let signature: unknown;
  return {
    /** The call, once it is complete. */
    add(call: unknown, signed: unknown) {
      signature = signed ?? signature;
      id = stringOf(call, "id") || id;
      name = stringOf(call, "name") || name;
      for (const piece of listOf(call, "partialArgs")) args = withPiece(args, piece);
      const whole = fieldOf(call, "args");
      if (typeof whole === "object" && whole !== null) args = { ...args, ...whole };
      if (fieldOf(call, "willContinue") === true) return undefined;
      const made = { id, name, arguments: JSON.stringify(args), signature };
      [id, name, args, signature] = ["", "", {}, undefined];
      return made.name === "" ? undefined : made;
    },
  };
}

const STEP = /\.([^.[\]]+)|\[(?:(\d+)|'([^']*)'|"([^"]*)")\]/g;
/** Names that would reach the prototype. */
const isUnsafe = (step: string | number) =>
  step === "__proto__" || step === "constructor" || step === "prototype";

/** Sets one value at its path, such as `$.edits[0].text`; text that comes in pieces is appended. */
function withPiece(args: Record<string, unknown>, piece: unknown): Record<string, unknown> {
  const steps = [...stringOf(piece, "jsonPath").matchAll(STEP)].map(([, dotted, index, single, double]) =>
    index === undefined ? (dotted ?? single ?? double ?? "") : Number(index),
  );
  if (steps.length === 0 || steps.some(isUnsafe)) return args;
  return setAt(args, steps, pieceValue(piece)) as Record<string, unknown>; // An object stays an object.
}

function setAt(target: unknown, [step, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (step === undefined)
    return typeof target === "string" && typeof value === "string" ? target + value : value;
  if (typeof step === "number") {
    const list = Array.isArray(target) ? [...target] : [];
    list[step] = setAt(list[step], rest, value);
    return list;
  }
  const object: Record<string, unknown> = { ...(typeof target === "object" && target) };
  object[step] = setAt(object[step], rest, value);
  return object;
}

function pieceValue(piece: unknown): unknown {
  for (const kind of ["stringValue", "numberValue", "boolValue"]) {
    const value = fieldOf(piece, kind);
    if (value !== undefined) return value;
  }
  return null;
}
