import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { sendJson } from "./send-json.ts";

/** The JSON-RPC code for errors without a specific code. */
const REFUSED = -32_000;

export interface HttpRefusal {
  readonly status: number;
  readonly message: string;
  readonly code?: number;
  readonly id?: string | number | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers with a JSON-RPC error: MCP clients of all revisions read it, and other clients find `error.message`. */
export function refuse(response: ServerResponse, refusal: HttpRefusal): void {
  const { status, message, code = REFUSED, id = null, headers } = refusal;
  if (response.headersSent) return;
  const body = { jsonrpc: "2.0", id, error: { code, message } };
  sendJson(response, status, JSON.stringify(body), headers);
}

/** Also closes the connection when the request has a body, which is not read. */
export function refuseUnread(request: IncomingMessage, response: ServerResponse, refusal: HttpRefusal): void {
  const hasBody = request.headers["content-length"] !== undefined || "transfer-encoding" in request.headers;
  refuse(response, { ...refusal, headers: { ...refusal.headers, ...(hasBody && { connection: "close" }) } });
}

export const notFound = (paths: readonly string[]): HttpRefusal => ({
  status: 404,
  message: `not found; this server serves ${paths.join(", ")}`,
});

export const methodNotAllowed = (allowed: string): HttpRefusal => ({
  status: 405,
  message: "Method not allowed.",
  headers: { allow: allowed },
});

export const CLOSING: HttpRefusal = {
  status: 503,
  message: "the server is shutting down",
  headers: { connection: "close", "retry-after": "5" },
};

export const BROKEN: HttpRefusal = {
  status: 500,
  message: "the request failed; the log of the server has the cause",
};

/** Answers a request for a WebSocket with an HTTP error and closes the connection. */
export function refuseUpgrade(socket: Duplex, { status, message, headers }: HttpRefusal): void {
  const fields = { "content-type": "text/plain", "content-length": Buffer.byteLength(message), ...headers };
  const lines = Object.entries({ ...fields, connection: "close" }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  // Node's table of reason phrases is not worth loading node:http, and with it undici, at every start.
  socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join("")}\r\n${message}`);
  // Some peers never close their side.
  socket.once("finish", () => socket.destroy());
}
