import type { IncomingHttpHeaders } from "node:http";
import { sendJson } from "@octant/http";
import { claimOf, VERSION_KEY } from "../client-claims.ts";
import { INVALID_REQUEST, isPlain, isToken, type Message } from "../messages.ts";
import type { ModernPost } from "./modern.ts";

const HEADER_MISMATCH = -32_020;

interface Broken {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/**
 * Refuses what is certainly broken, in the very bytes that the SDK would write; false when it is for the SDK to say.
 * There is no end to broken requests, and what the SDK makes for each stays in memory for long.
 */
export function refuseBroken(
  { request, response, value }: ModernPost,
  message: Message | undefined,
  log: (line: string) => void,
): boolean {
  const broken = message ? mismatchOf(message, request.headers) : shapeOf(value);
  if (!broken) return false;
  log(`mcp: refused a request: ${broken.message}`);
  sendJson(response, 400, JSON.stringify({ jsonrpc: "2.0", error: broken, id: idToEcho(value) }));
  return true;
}

/** What is no request, no notification and no answer. */
function shapeOf(value: unknown): Broken | undefined {
  if (Array.isArray(value)) return batchOf(value);
  const isNone =
    !isPlain(value) ||
    value["jsonrpc"] !== "2.0" ||
    (!("result" in value || "error" in value) &&
      (typeof value["method"] !== "string" || ("id" in value && !isToken(value["id"]))));
  return isNone
    ? { code: INVALID_REQUEST, message: "Bad Request: the request body is not a valid JSON-RPC message" }
    : undefined;
}

function batchOf([first]: readonly unknown[]): Broken | undefined {
  if (first === undefined) return { code: INVALID_REQUEST, message: "Bad Request: empty JSON-RPC batch" };
  const params = isPlain(first) ? first["params"] : undefined;
  const meta = isPlain(params) ? params["_meta"] : undefined;
  if (!isPlain(meta) || !(VERSION_KEY in meta)) return undefined;
  const message =
    "Bad Request: JSON-RPC batches may not contain requests for protocol revision 2026-07-28 or later";
  return { code: INVALID_REQUEST, message };
}

/** A request whose headers say something else than it says itself. */
function mismatchOf(message: Message, headers: IncomingHttpHeaders): Broken | undefined {
  const claim = claimOf(message);
  if (message.id === undefined || claim.kind !== "version") return undefined;
  // What this one would say of itself depends on more than its claim.
  if (message.method === "initialize") return undefined;
  const { "mcp-protocol-version": version, "mcp-method": method } = headers;
  if (version !== undefined && version !== claim.version)
    return mismatch(
      version,
      `the body envelope names protocol version ${claim.version} but the MCP-Protocol-Version header names ${version}`,
    );
  if (method !== undefined && method !== message.method)
    return mismatch(
      method,
      `the body names method ${message.method} but the Mcp-Method header names ${method}`,
    );
  return undefined;
}

const mismatch = (header: unknown, body: string): Broken => ({
  code: HEADER_MISMATCH,
  message: `Bad Request: the request headers and body disagree: ${body}`,
  data: { mismatch: { header, body } },
});

/** Where it is certain which request is answered; also an id that no request may have. */
function idToEcho(value: unknown): string | number | null {
  if (!isPlain(value) || typeof value["method"] !== "string") return null;
  const { id } = value;
  return typeof id === "string" || typeof id === "number" ? id : null;
}
