/** JSON-RPC: messages as values, and the validation of received ones. */
export type RequestId = string | number;
export type Plain = Readonly<Record<string, unknown>>;

/** A request or notification from the client. */
export interface Message {
  /** undefined for a notification. */
  readonly id: RequestId | undefined;
  readonly method: string;
  readonly params: Plain | undefined;
  readonly meta: Plain | undefined;
}

/** A message from the server. Edges serialise it. */
export type Outgoing =
  | { readonly jsonrpc: "2.0"; readonly id: RequestId; readonly result: Plain }
  | { readonly jsonrpc: "2.0"; readonly id: RequestId | null; readonly error: ErrorObject }
  | { readonly jsonrpc: "2.0"; readonly id: RequestId; readonly method: string; readonly params: Plain }
  | { readonly jsonrpc: "2.0"; readonly method: string; readonly params?: Plain };

export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
export const INTERNAL_ERROR = -32_603;
export const HEADER_MISMATCH = -32_020;
export const MISSING_CAPABILITY = -32_021;
export const UNSUPPORTED_PROTOCOL_VERSION = -32_022;

/** A request that is answered with a protocol error. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const invalidParams = (message: string, data?: unknown): ProtocolError =>
  new ProtocolError(INVALID_PARAMS, message, data);

export const toResultMessage = (id: RequestId, result: Plain): Outgoing => ({ jsonrpc: "2.0", id, result });

export const toErrorMessage = (id: RequestId | null, { code, message, data }: ErrorObject): Outgoing => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data !== undefined && { data }) },
});

export const toNotification = (method: string, params?: Plain): Outgoing => ({
  jsonrpc: "2.0",
  method,
  ...(params && { params }),
});

/** Whether the message ends its request. */
export const isAnswer = (message: Outgoing): boolean => "result" in message || "error" in message;

/** The request or notification in a parsed value; undefined for anything else. */
export function toMessage(value: unknown): Message | undefined {
  if (!isPlain(value) || value["jsonrpc"] !== "2.0" || "result" in value || "error" in value)
    return undefined;
  const { id, method, params } = value;
  if (typeof method !== "string" || (id !== undefined && !isToken(id))) return undefined;
  if (params === undefined) return { id, method, params, meta: undefined };
  if (!isPlain(params)) return undefined;
  const meta = params["_meta"];
  return meta === undefined || isMeta(meta) ? { id, method, params, meta } : undefined;
}

/** An answer to a request from the server. */
export const isResponse = (value: unknown): value is Plain =>
  isPlain(value) && value["jsonrpc"] === "2.0" && ("result" in value || "error" in value);

/**
 * The ids under which a client awaits an answer to an invalid request. For a batch, which no current revision has,
 * those of its members.
 */
export function idsAwaited(value: unknown): RequestId[] {
  const members = Array.isArray(value) ? value.slice(0, MAX_BATCH_ANSWERS) : [value];
  return members.flatMap((member) =>
    isPlain(member) && isToken(member["id"]) && !("result" in member || "error" in member)
      ? [member["id"]]
      : [],
  );
}

const ID = String.raw`"id":\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*`;
const FIRST = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc":\s*"2\.0",\s*)?${ID},`);
const LAST = new RegExp(String.raw`[{,]\s*${ID}\}\s*$`);

/** The id of a message without its middle. The SDKs write it first or last; null when it is elsewhere. */
export function idAtEdges(text: string): RequestId | null {
  const [, found = "null"] = FIRST.exec(text) ?? LAST.exec(text) ?? [];
  const id: unknown = JSON.parse(found);
  return isToken(id) ? id : null;
}

export const isPlain = (value: unknown): value is Plain =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const toPlain = (value: unknown): Plain => (isPlain(value) ? value : {});

/** Strings and safe integers: ids of requests, and progress tokens. */
const isToken = (value: unknown): value is RequestId =>
  typeof value === "string" || Number.isSafeInteger(value);

/** The string parameter with this name. */
export function stringOf(params: Plain, name: string): string {
  const value = params[name];
  if (typeof value !== "string") throw invalidParams(`Invalid params: ${name} must be a string`);
  return value;
}

/** A line of 64 MiB could ask for millions. */
const MAX_BATCH_ANSWERS = 256;

const isMeta = (meta: unknown): meta is Plain =>
  isPlain(meta) && (meta["progressToken"] === undefined || isToken(meta["progressToken"]));

/** Far above any message of the protocol, far below the depth that exhausts a stack or a heap. */
export const MAX_JSON_DEPTH = 64;

/** Parses text with bounded nesting; throws a SyntaxError for anything else. */
export function parseJson(text: string): unknown {
  // JSON.parse accepts ten million brackets and takes 700 MB for them, so the depth is checked before it runs.
  if (hasManyBrackets(text) && isTooDeep(text))
    throw new SyntaxError(`JSON is nested deeper than ${MAX_JSON_DEPTH} levels`);
  return JSON.parse(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Text with fewer brackets cannot be deeper; most messages have a handful. */
function hasManyBrackets(text: string): boolean {
  let count = 0;
  for (const bracket of ["{", "["])
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1))
      if (++count > MAX_JSON_DEPTH) return true;
  return false;
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) {
      if (++depth > MAX_JSON_DEPTH) return true;
    } else if (unit === CLOSE_OBJECT || unit === CLOSE_ARRAY) depth--;
  }
  return false;
}

/** indexOf skips long strings fast. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (text.charCodeAt(quote - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return quote;
  }
  return text.length;
}
