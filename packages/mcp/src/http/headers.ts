import type { IncomingHttpHeaders } from "node:http";
import { claimsModern, MODERN_VERSION, refusalOf, VERSION_KEY } from "../era.ts";
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isPlain,
  isResponse,
  type Message,
  type Plain,
  ProtocolError,
  toMessage,
  toPlain,
} from "../messages.ts";
import type { Service } from "../service.ts";

/** Whether a posted value uses, or claims to use, the revision without a handshake. */
export function isModern(headers: IncomingHttpHeaders, value: unknown): boolean {
  const version = headers["mcp-protocol-version"];
  if (typeof version === "string" && version >= MODERN_VERSION) return true;
  const { method, params } = toPlain(value);
  const meta = toPlain(toPlain(params)["_meta"]);
  if (!(VERSION_KEY in meta)) return false;
  // An initialize is the handshake of an older revision unless it is entirely modern.
  return method !== "initialize" || claimsModern(meta);
}

/** The message in a posted value; throws a ProtocolError when it is invalid or its headers disagree. */
export function checkPost(value: unknown, headers: IncomingHttpHeaders, service: Service): Message {
  const message = toMessage(value);
  if (!message) throw new ProtocolError(INVALID_REQUEST, `Bad Request: ${shapeProblem(value)}`);
  const { id, method, meta } = message;
  const version = headers["mcp-protocol-version"];
  const claimed = meta?.[VERSION_KEY];
  if (method === "initialize" && !claimsModern(meta))
    throw mismatch(version, "initialize belongs to revisions before the one that MCP-Protocol-Version names");
  const refusal = refusalOf(meta);
  // A notification may omit the rest of its claim.
  const isJudged = id !== undefined || (claimed !== undefined && typeof claimed !== "string");
  if (refusal?.code === INVALID_PARAMS && isJudged) throw refusal;
  if (version !== undefined && claimed !== undefined && version !== claimed)
    throw mismatch(version, `the body names revision ${claimed}, MCP-Protocol-Version names ${version}`);
  const methodHeader = headers["mcp-method"];
  if (methodHeader !== undefined && methodHeader !== method)
    throw mismatch(methodHeader, `the body names method ${method}, Mcp-Method names ${methodHeader}`);
  if (refusal && refusal.code !== INVALID_PARAMS) throw refusal;
  if (id === undefined) return message;
  if (version === undefined) throw mismatch("(missing)", "the MCP-Protocol-Version header is required");
  if (methodHeader === undefined) throw mismatch("(missing)", "the Mcp-Method header is required");
  checkName(message, headers["mcp-name"]);
  if (method === "tools/call") checkArguments(message, headers, service);
  return message;
}

function shapeProblem(value: unknown): string {
  if (Array.isArray(value)) return "post one JSON-RPC message, not a batch";
  return isResponse(value)
    ? "this revision has no requests to the client, so there is nothing to respond to"
    : "the request body is not a valid JSON-RPC message";
}

const mismatch = (header: unknown, body: string): ProtocolError =>
  new ProtocolError(HEADER_MISMATCH, `Bad Request: the request headers and body disagree: ${body}`, {
    mismatch: { header, body },
  });

/** The parameter that Mcp-Name repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

function checkName({ method, params }: Message, header: string | string[] | undefined): void {
  const parameter = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  const value = parameter === undefined ? undefined : params?.[parameter];
  if (typeof value !== "string") return;
  if (header === undefined) throw mismatch("(missing)", "the Mcp-Name header is required");
  if (decode(String(header)) !== value)
    throw mismatch(header, `params.${parameter} is ${JSON.stringify(value)}, Mcp-Name is another`);
}

/** Arguments marked with `x-mcp-header` in a tool's schema are repeated in `Mcp-Param-…`. */
function checkArguments({ params }: Message, headers: IncomingHttpHeaders, { listing }: Service): void {
  const offer = listing.current().offer(String(params?.["name"]));
  if (offer) checkLevel(offer.listed.inputSchema, toPlain(params?.["arguments"]), headers);
}

function checkLevel(schema: Plain, args: Plain, headers: IncomingHttpHeaders): void {
  for (const [name, property] of Object.entries(toPlain(schema["properties"]))) {
    const value = args[name];
    if (!isPlain(property) || value === undefined || value === null) continue;
    const { "x-mcp-header": header } = property;
    if (typeof header === "string") checkArgument(`Mcp-Param-${header}`, name, value, headers);
    if (isPlain(value)) checkLevel(property, value, headers);
  }
}

function checkArgument(header: string, name: string, value: unknown, headers: IncomingHttpHeaders): void {
  if (!["string", "number", "boolean"].includes(typeof value)) return;
  const given = headers[header.toLowerCase()];
  if (given === undefined) throw mismatch(header, `the argument ${name} needs the header ${header}`);
  const decoded = decode(String(given));
  const isSame = typeof value === "number" ? Number(decoded) === value : decoded === String(value);
  if (!isSame) throw mismatch(header, `the argument ${name} and the header ${header} differ`);
}

const BASE64 = /^=\?base64\?(?<text>(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;

/** Values that a header cannot contain come as `=?base64?…?=`. undefined when malformed. */
function decode(header: string): string | undefined {
  const value = header.trim();
  if (!value.startsWith("=?base64?") || !value.endsWith("?=")) return value;
  const text = BASE64.exec(value)?.groups?.["text"];
  return text === undefined ? undefined : Buffer.from(text, "base64").toString();
}
