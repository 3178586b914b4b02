/** JSON-RPC on the wire: which messages there are, and the lines that answer one. */
export type RequestId = string | number;
export type Plain = Readonly<Record<string, unknown>>;

export interface Message {
  /** A notification has none. */
  readonly id: RequestId | undefined;
  readonly method: string;
  readonly params: Plain | undefined;
  readonly meta: Plain | undefined;
}

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const INVALID_PARAMS = -32_602;
export const INTERNAL_ERROR = -32_603;
export const UNSUPPORTED_PROTOCOL_VERSION = -32_022;

/** Members in the order in which the SDK writes them. */
export const resultLine = (id: RequestId, result: string): string =>
  `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;

export const errorLine = (id: RequestId | null, code: number, message: string, data?: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });

export const notificationLine = (method: string, params?: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", method, params });

/** Tells a line of `notificationLine` from the answers. */
export const isNotificationLine = (line: string): boolean => line.startsWith('{"jsonrpc":"2.0","method":');

/** The request or notification in a parsed line, by the SDK's rules; undefined for anything else. */
export function toMessage(value: unknown): Message | undefined {
  if (!isPlain(value) || value["jsonrpc"] !== "2.0" || !hasOnly(value, MEMBERS)) return undefined;
  const { id, method, params } = value;
  if (typeof method !== "string" || (id !== undefined && !isToken(id))) return undefined;
  if (params === undefined) return { id, method, params, meta: undefined };
  if (!isPlain(params)) return undefined;
  const meta = params["_meta"];
  return meta === undefined || isMeta(meta) ? { id, method, params, meta } : undefined;
}

/** An answer to something the server asked. */
export const isResponse = (value: unknown): boolean =>
  isPlain(value) && value["jsonrpc"] === "2.0" && ("result" in value || "error" in value);

/**
 * The ids under which a client waits for an answer to what is no request. Of a batch, which no revision in use has,
 * these are the ids of its members, as far as one client's calls go.
 */
export function idsAwaited(value: unknown): RequestId[] {
  const members = Array.isArray(value) ? value.slice(0, MAX_BATCH_ANSWERS) : [value];
  return members.flatMap((member) =>
    isPlain(member) && isToken(member["id"]) && !("result" in member || "error" in member)
      ? [member["id"]]
      : [],
  );
}

export const isPlain = (value: unknown): value is Plain =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Strings and safe integers: ids of requests, and progress tokens. */
export const isToken = (value: unknown): value is RequestId =>
  typeof value === "string" || Number.isSafeInteger(value);

export function hasOnly(value: Plain, names: ReadonlySet<string>): boolean {
  for (const name in value) if (!names.has(name)) return false;
  return true;
}

/** A line of 64 MiB could ask for millions. */
const MAX_BATCH_ANSWERS = 256;
const MEMBERS = new Set(["jsonrpc", "id", "method", "params"]);
const RELATED_TASK = "io.modelcontextprotocol/related-task";

function isMeta(meta: unknown): meta is Plain {
  if (!isPlain(meta)) return false;
  const { progressToken, [RELATED_TASK]: task } = meta;
  if (progressToken !== undefined && !isToken(progressToken)) return false;
  return task === undefined || (isPlain(task) && typeof task["taskId"] === "string");
}
