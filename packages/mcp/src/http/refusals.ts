import type { ServerResponse } from "node:http";
import { errorLine, type RequestId } from "../messages.ts";
import { sendJson } from "./reply.ts";

/** What the older revisions use for everything that has no code of its own. */
const REFUSED = -32_000;

export interface HttpRefusal {
  readonly status: number;
  readonly message: string;
  readonly code?: number;
  readonly id?: RequestId | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers with a JSON-RPC error, which is what clients of all revisions read. */
export function refuse(response: ServerResponse, refusal: HttpRefusal): void {
  const { status, message, code = REFUSED, id = null, headers } = refusal;
  if (!response.headersSent) sendJson(response, status, errorLine(id, code, message), headers);
}

export const notFound: HttpRefusal = {
  status: 404,
  message: "there is nothing here; MCP is at /mcp",
};

export const sessionNotFound: HttpRefusal = {
  status: 404,
  code: -32_001,
  message: "Session not found",
};

export const methodNotAllowed = (allowed: string): HttpRefusal => ({
  status: 405,
  message: "Method not allowed.",
  headers: { allow: allowed },
});

export const ending: HttpRefusal = {
  status: 503,
  message: "the server is ending",
  headers: { connection: "close", "retry-after": "5" },
};
