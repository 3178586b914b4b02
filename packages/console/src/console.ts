import type { IncomingMessage, ServerResponse } from "node:http";
import { type Caller, ERRORS, invalidArgument, ToolError, toTraceId } from "@octant/core";
import { type HttpRefusal, type Mount, methodNotAllowed, readJson, refuse, sendJson } from "@octant/http";
import type { z } from "zod";
import { API_PATH, CONSOLE_PATH, KEY_FRAGMENT, type LoginAnswer, LoginRequest, type Me } from "./api.ts";
import { ENDPOINTS, type Endpoint, type EndpointContext } from "./endpoints.ts";
import { createLinks, findForgery, splitToken, toCookie, tokenOfPage } from "./entry.ts";
import { streamEvents } from "./event-reader.ts";
import { SAFE_HEADERS } from "./headers.ts";
import { createPageFiles } from "./page-files.ts";
import { createProcesses, type Machine } from "./processes.ts";

export interface ConsoleOptions {
  readonly machine: Machine;
  /** The id of the process that serves the console. */
  readonly process: string;
  readonly version: string;
  /** A new bearer token for a page that was opened with a one-time link. */
  mint(): Promise<string> | string;
  /** Whether a token is good here. */
  verify(token: string): boolean;
  /** Whether the caller is the person at this machine, and not only somebody with a token. */
  isPerson?(caller: Caller): boolean;
  /** The process is a hub. */
  readonly isHub?: boolean;
  /** The folder of the built page; that of this package when absent. */
  readonly page?: string;
  readonly keepAliveMs?: number;
  log(line: string): void;
}

const MAX_BODY_BYTES = 8 * 1024 * 1024;
const MAX_REPORT_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 15_000;

export type Console = ReturnType<typeof createConsole>;

/** The page and its API, to be mounted at /console of a listener. */
export function createConsole(options: ConsoleOptions) {
  const { machine, process, version, isHub = false, keepAliveMs = KEEP_ALIVE_MS } = options;
  const processes = createProcesses(machine);
  const links = createLinks();
  const readers = new Set<ServerResponse>();
  let files: ReturnType<typeof createPageFiles> | undefined;
  let reports = 0;

  const describe = ({ access, project }: Caller): Me => ({
    access,
    project: project ?? null,
    process,
    version,
    hub: isHub,
    csp_reports: reports,
  });
  const context: EndpointContext = { processes, process, describe, isPerson: options.isPerson };

  const sendPage = (request: IncomingMessage, response: ServerResponse, status = 200) => {
    files ??= createPageFiles(options.page);
    files.send(request, response, status);
  };
  /** A bug of ours, or a disk that is full: the page learns that it failed, and the log why. */
  const fail = (response: ServerResponse) => (cause: unknown) => {
    const trace_id = toTraceId(undefined);
    options.log(`console: request ${trace_id} failed: ${cause instanceof Error ? cause.stack : cause}`);
    if (response.destroyed || response.headersSent) return;
    const message = "the request failed; the log of the server has the cause";
    sendError(response, new ToolError("INTERNAL", message, { trace_id }));
  };
  const open = async (request: IncomingMessage, response: ServerResponse, code: string) => {
    // The page explains it, or shows itself where the browser is signed in.
    if (!links.redeem(code)) return sendPage(request, response, 403);
    const { cookie, key } = splitToken(await options.mint());
    const location = `${CONSOLE_PATH}/${KEY_FRAGMENT}${key}`;
    const headers = { "set-cookie": toCookie(request, cookie), location };
    response.writeHead(303, { ...SAFE_HEADERS, ...headers, "cache-control": "no-store" }).end();
  };
  const login = (request: IncomingMessage, response: ServerResponse) =>
    readJson(request, response, MAX_BODY_BYTES, (value) => {
      const token = LoginRequest.safeParse(value).data?.token;
      if (token === undefined || !options.verify(token)) return refuseSafely(response, BAD_TOKEN);
      const { cookie, key } = splitToken(token);
      send(response, { key } satisfies LoginAnswer, { "set-cookie": toCookie(request, cookie) });
    });
  const count = (request: IncomingMessage, response: ServerResponse) => {
    reports += 1;
    request.resume();
    if (Number(request.headers["content-length"] ?? 0) > MAX_REPORT_BYTES) request.destroy();
    response.writeHead(204, SAFE_HEADERS).end();
  };
  /** Requests that need no token: the page itself, a one-time link, a login, and reports of the browser. */
  const handlePublic = (request: IncomingMessage, response: ServerResponse): boolean => {
    const { path, query } = placeOf(request);
    const isRead = request.method === "GET" || request.method === "HEAD";
    // HEAD, as a preview of a link sends it, must not use the link up.
    if (path === `${CONSOLE_PATH}/open` && request.method === "GET") {
      open(request, response, query.get("code") ?? "").catch(fail(response));
      return true;
    }
    if (path === `${API_PATH}/csp-report` && request.method === "POST") {
      count(request, response);
      return true;
    }
    if (path === `${API_PATH}/login` && request.method === "POST") {
      const forgery = findForgery(request);
      if (forgery) refuseSafely(response, forgery);
      else login(request, response);
      return true;
    }
    if (path === API_PATH || path.startsWith(`${API_PATH}/`) || !isRead) return false;
    sendPage(request, response);
    return true;
  };

  const follow = (request: IncomingMessage, response: ServerResponse, caller: Caller) => {
    const { query } = placeOf(request);
    const given = request.headers["last-event-id"] ?? query.get("after");
    const after = typeof given === "string" && /^\d{1,16}$/.test(given) ? Number(given) : undefined;
    readers.add(response);
    response.once("close", () => readers.delete(response));
    for (const [name, value] of Object.entries(SAFE_HEADERS)) response.setHeader(name, value);
    streamEvents(response, processes, caller, after, keepAliveMs);
  };
  const handle = (request: IncomingMessage, response: ServerResponse, caller: Caller) => {
    const { path } = placeOf(request);
    const name = path.slice(API_PATH.length + 1);
    if (name === "events" && request.method === "GET") return follow(request, response, caller);
    if (name === "logout" && request.method === "POST") {
      const forgery = findForgery(request);
      if (forgery) return refuseSafely(response, forgery);
      return send(response, {}, { "set-cookie": toCookie(request, undefined) });
    }
    const endpoint = Object.hasOwn(ENDPOINTS, name) ? ENDPOINTS[name] : undefined;
    if (!endpoint) return refuseSafely(response, notFound());
    if (request.method !== endpoint.method) return refuseSafely(response, methodNotAllowed(endpoint.method));
    const ended = new AbortController();
    response.once("close", () => ended.abort());
    const answer = (body: unknown) =>
      reply(response, () => run(endpoint, body, caller, context, ended.signal)).catch(fail(response));
    if (endpoint.method === "GET") return answer(undefined);
    const forgery = findForgery(request);
    if (forgery) return refuseSafely(response, forgery);
    return readJson(request, response, MAX_BODY_BYTES, answer);
  };

  return {
    mount: {
      handle,
      handlePublic,
      tokenOf: tokenOfPage,
      async drain() {
        for (const response of readers) response.end();
      },
      close: () => processes.close(),
    } satisfies Mount,
    /** A new link that opens the console once; `origin` is where the listener is reached. */
    link: (origin: string): string => new URL(`${CONSOLE_PATH}/open?code=${links.create()}`, origin).href,
  };
}

function run(
  { access, body, run: work }: Endpoint,
  given: unknown,
  caller: Caller,
  context: EndpointContext,
  signal: AbortSignal,
): unknown {
  if (access === "admin" && caller.access !== "admin")
    throw new ToolError("PERMISSION_DENIED", "this needs a token with scope admin", {
      by: "access",
      rule: "admin",
    });
  return work(body ? parse(body, given) : {}, caller, context, signal);
}

function parse<S extends z.ZodObject>(schema: S, given: unknown): z.output<S> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const message = issues.map((issue) => [issue.path.join("."), issue.message].filter(Boolean).join(": "));
  throw invalidArgument(issues[0]?.path.join(".") ?? "", message.join("; "));
}

/** The data as JSON, or the error with the status of its code. */
async function reply(response: ServerResponse, work: () => unknown): Promise<void> {
  try {
    send(response, await work());
  } catch (cause) {
    if (response.destroyed) return;
    if (!(cause instanceof ToolError)) throw cause;
    sendError(response, cause);
  }
}

function sendError(response: ServerResponse, { code, message, details }: ToolError): void {
  const body = JSON.stringify({ error: { code, message, details } });
  sendJson(response, ERRORS[code].http, body, { ...SAFE_HEADERS, "cache-control": "no-store" });
}

const send = (
  response: ServerResponse,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void =>
  sendJson(response, 200, JSON.stringify(value), {
    ...SAFE_HEADERS,
    "cache-control": "no-store",
    ...headers,
  });

const refuseSafely = (response: ServerResponse, refusal: HttpRefusal): void =>
  refuse(response, { ...refusal, headers: { ...SAFE_HEADERS, ...refusal.headers } });

function placeOf({ url = "/" }: IncomingMessage) {
  const at = url.indexOf("?");
  const path = at === -1 ? url : url.slice(0, at);
  return { path, query: new URLSearchParams(at === -1 ? "" : url.slice(at + 1)) };
}

const notFound = (): HttpRefusal => ({
  status: 404,
  message: `not found; the API has ${[...Object.keys(ENDPOINTS), "events", "login", "logout"].join(", ")}`,
});
const BAD_TOKEN: HttpRefusal = {
  status: 401,
  message: "the token is unknown, expired or not for this server",
};
