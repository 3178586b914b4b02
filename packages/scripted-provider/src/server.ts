import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { cutBytes } from "./pieces.ts";
import { readRequest } from "./read-request.ts";
import { RENDERERS } from "./render.ts";
import type { ApiName, Fault, Script, ScriptedRequest, ScriptedTurn } from "./script.ts";
import { refusalOf } from "./strict/index.ts";

export interface ScriptedProviderOptions {
  /** The model list of an OpenAI-compatible server. */
  readonly models?: readonly string[];
  /** Any other key is refused; all are accepted when absent. */
  readonly key?: string;
  readonly port?: number;
  /** Stores no requests: those of a long session would fill the memory. */
  readonly forgets?: boolean;
  /** Called for every request before it is answered. */
  readonly onRequest?: (request: ScriptedRequest) => void;
  /** Called when all of an answer was handed to the system. */
  readonly onAnswered?: () => void;
}

export interface ScriptedProvider extends AsyncDisposable {
  readonly url: string;
  /** The base URL for a client of this API. */
  baseUrl(api: ApiName): string;
  /** All requests so far. */
  readonly requests: readonly ScriptedRequest[];
  close(): Promise<void>;
}

/**
 * Starts a provider on loopback that plays the script in all four formats. It refuses what the real APIs refuse, with
 * their messages.
 */
export async function createScriptedProvider(
  script: Script,
  options: ScriptedProviderOptions = {},
): Promise<ScriptedProvider> {
  const requests: ScriptedRequest[] = [];
  let made = 0;
  const ids = { next: (prefix: string) => `${prefix}${++made}` };
  const turnFor = (request: ScriptedRequest): ScriptedTurn => {
    if (typeof script === "function") return script(request);
    return script[requests.length - 1] ?? { fault: { status: 400, body: "the script has no more turns" } };
  };
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    if (options.key !== undefined && keyOf(req) !== options.key)
      return fail(res, { status: 401, body: "invalid x-api-key" });
    if (req.method === "GET" && /^\/v1(beta)?\/models(\?|$)/.test(req.url ?? "") && options.models)
      return void res.end(JSON.stringify({ object: "list", data: options.models.map((id) => ({ id })) }));
    const api = apiOf(req);
    if (!api) return fail(res, { status: 404, body: `the script has no ${req.method} ${req.url}` });
    const raw = await readBody(req);
    const body = JSON.parse(raw);
    const path = req.url ?? "";
    const request = { api, path, headers: req.headers, raw, body, ...readRequest(api, body) };
    if (!options.forgets) requests.push(request);
    options.onRequest?.(request);
    const refusal = refusalOf(api, raw, body, request);
    if (refusal) return fail(res, refusal);
    const turn = turnFor(request);
    if (turn.fault && "status" in turn.fault) return fail(res, turn.fault);
    await play(res, turn, toEvents(api, turn, RENDERERS[api](turn, ids)));
    options.onAnswered?.();
  };
  const server = createServer((req, res) => {
    answer(req, res).catch((cause) => fail(res, { status: 400, body: String(cause) }));
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  // A server listening on a port has an address of this type.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url,
    baseUrl: (api) => (api === "openai" || api === "openai-chat" ? `${url}/v1` : url),
    requests,
    close,
    [Symbol.asyncDispose]: close,
  };
}

const keyOf = ({ headers }: IncomingMessage) =>
  headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers.authorization?.replace(/^Bearer /, "");

function apiOf({ method, url = "" }: IncomingMessage): ApiName | undefined {
  if (method !== "POST") return undefined;
  if (url.startsWith("/v1/messages")) return "anthropic";
  if (url.startsWith("/v1/responses")) return "openai";
  if (url.startsWith("/v1/chat/completions")) return "openai-chat";
  return /^\/v1beta\/models\/[^:]+:streamGenerateContent/.test(url) ? "gemini" : undefined;
}

async function readBody(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function fail(res: ServerResponse, { status, headers, body }: Extract<Fault, { status: number }>): void {
  if (res.headersSent) return void res.destroy();
  const error = typeof body === "string" ? { error: { type: "scripted_error", message: body } } : body;
  res.writeHead(status, { "content-type": "application/json", ...headers });
  res.end(JSON.stringify(error ?? { error: { message: `scripted failure ${status}` } }));
}

/** The events with the fault at its position; `undefined` ends the connection, `null` leaves it silent. */
function toEvents(
  api: ApiName,
  { fault }: ScriptedTurn,
  events: readonly string[],
): (string | undefined | null)[] {
  if (!fault || "status" in fault) return [...events];
  if ("cut_after" in fault) return [...events.slice(0, fault.cut_after), undefined];
  if ("stall_after" in fault) return [...events.slice(0, fault.stall_after), null];
  if ("malformed_after" in fault)
    return [
      ...events.slice(0, fault.malformed_after),
      'data: {"type": "broken\n\n',
      ...events.slice(fault.malformed_after),
    ];
  return [...events.slice(0, fault.error_after), errorEvent(api, fault.kind)];
}

const ERRORS = {
  overloaded: { type: "overloaded_error", code: "server_is_overloaded", message: "Overloaded" },
  rate_limit: {
    type: "rate_limit_error",
    code: "rate_limit_exceeded",
    message: "Rate limit reached. Please try again in 20ms.",
  },
  context_length: {
    type: "invalid_request_error",
    code: "context_length_exceeded",
    message: "prompt is too long: 250000 tokens > 200000 maximum",
  },
} as const;

function errorEvent(api: ApiName, kind: keyof typeof ERRORS): string {
  const error = ERRORS[kind];
  const event = (type: string, more: unknown) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...(more as object) })}\n\n`;
  if (api === "anthropic") return event("error", { error });
  if (api === "openai")
    return event("response.failed", { response: { id: "resp_x", status: "failed", error } });
  return `data: ${JSON.stringify({ error })}\n\n`;
}

async function play(
  res: ServerResponse,
  { chunks = "whole", delay_ms, events_per_second }: ScriptedTurn,
  events: readonly (string | undefined | null)[],
): Promise<void> {
  res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  res.socket?.setNoDelay();
  const began = performance.now();
  for (const [i, event] of events.entries()) {
    const due = events_per_second === undefined ? 0 : began + (i * 1_000) / events_per_second;
    if (due - performance.now() >= 1) await delay(due - performance.now());
    if (event === undefined) {
      await flushed(res);
      res.destroy();
      return;
    }
    if (event === null) return flushed(res);
    if (delay_ms !== undefined) await delay(delay_ms);
    for (const bytes of cut(Buffer.from(event), chunks)) {
      if (res.destroyed) return;
      res.write(bytes);
      // Lets the socket send each piece separately.
      if (chunks !== "whole") await new Promise(setImmediate);
    }
  }
  res.end();
}

const flushed = (res: ServerResponse) => new Promise<void>((resolve) => res.write("", () => resolve()));

function cut(bytes: Buffer, chunks: NonNullable<ScriptedTurn["chunks"]>): Iterable<Uint8Array> {
  if (chunks === "whole") return [bytes];
  return chunks === "byte" ? Array.from(bytes, (byte) => Uint8Array.of(byte)) : cutBytes(bytes, chunks.seed);
}
