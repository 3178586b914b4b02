import type { IncomingMessage, ServerResponse } from "node:http";

const ALLOWED_METHODS = "GET, POST, DELETE";
const ALLOWED_HEADERS =
  "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id";
const EXPOSED_HEADERS = "mcp-session-id, www-authenticate";
const MAX_AGE_S = 600;

/** Lets a page whose origin was checked before read the answers; true when the request was only a question for that. */
export function answerCors({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
  if (headers.origin === undefined) return false;
  response.setHeader("access-control-allow-origin", headers.origin);
  response.setHeader("vary", "origin");
  response.setHeader("access-control-expose-headers", EXPOSED_HEADERS);
  if (method !== "OPTIONS") return false;
  response.setHeader("access-control-allow-methods", ALLOWED_METHODS);
  response.setHeader("access-control-allow-headers", ALLOWED_HEADERS);
  response.setHeader("access-control-max-age", MAX_AGE_S);
  response.writeHead(204).end();
  return true;
}
