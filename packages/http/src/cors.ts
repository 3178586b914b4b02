import type { IncomingMessage, ServerResponse } from "node:http";

/** Additional headers that pages on other origins may send and read. */
export interface CorsHeaders {
  readonly allow: readonly string[];
  readonly expose: readonly string[];
}

const ALLOWED_METHODS = "GET, POST, DELETE";
const ALWAYS_ALLOWED = ["authorization", "content-type", "accept", "last-event-id"];
const ALWAYS_EXPOSED = ["www-authenticate"];
const MAX_AGE_S = 600;

/** Allows a page with a checked origin to read the answer; returns true when the request was a preflight. */
export function answerCors(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  { allow, expose }: CorsHeaders,
): boolean {
  if (headers.origin === undefined) return false;
  response.setHeader("access-control-allow-origin", headers.origin);
  response.setHeader("vary", "origin");
  response.setHeader("access-control-expose-headers", [...expose, ...ALWAYS_EXPOSED].join(", "));
  if (method !== "OPTIONS") return false;
  response.setHeader("access-control-allow-methods", ALLOWED_METHODS);
  response.setHeader("access-control-allow-headers", [...ALWAYS_ALLOWED, ...allow].join(", "));
  response.setHeader("access-control-max-age", MAX_AGE_S);
  response.writeHead(204).end();
  return true;
}
