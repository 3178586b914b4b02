import {
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from "node:http";
import { request as requestHttps } from "node:https";
import { ToolError } from "@octant/core";
import { classOf } from "./address-class.ts";
import { type Agents, createAgents } from "./agents.ts";
import { ACCEPTED_ENCODINGS, decodedBody } from "./decode.ts";
import { codeOf, MAX_HEADER_BYTES, toNetworkError } from "./failures.ts";
import { createHttpProxy } from "./http-proxy.ts";
import type { HttpRequest, Network, NetworkOptions } from "./network.ts";
import type { Gate } from "./policy.ts";
import { createProxyChoice } from "./proxy.ts";
import { type Hop, isRedirect, nextHop } from "./redirects.ts";
import {
  type CheckTools,
  pin,
  type RouteCaller,
  resolveAndCheck,
  systemResolve,
} from "./resolve-and-check.ts";
import { parseTarget } from "./target.ts";

const MAX_REDIRECTS = 10;

interface Wiring extends CheckTools {
  readonly agents: Agents;
}

/** The part of the network that takes time to load. */
export function createRequests(gate: Gate, options: NetworkOptions) {
  const { env = {}, resolve = systemResolve, ca, denies, warn = () => {} } = options;
  const agents = createAgents(ca);
  const wiring: Wiring = { gate, resolve, chooseProxy: createProxyChoice(env, warn), denies, agents };
  const request: Network["request"] = (given, use) =>
    withDeadline(given, async (signal) => {
      const { message, hop, redirects } = await followed(given, wiring, signal);
      try {
        return await use({
          status: message.statusCode ?? 0,
          url: hop.target.url,
          headers: message.headers,
          redirects,
          body: (maxBytes) => decodedBody(message, hop.target, maxBytes),
        });
      } finally {
        if (!message.readableEnded) message.destroy();
      }
    });
  const openProxy: Network["openProxy"] = ({ isRemote, denies: deniesProgram, ...how }) =>
    createHttpProxy({
      ...how,
      routeTo: (target, signal) =>
        resolveAndCheck(target, { ...wiring, denies: deniesProgram }, { isRemote, signal }),
      agentFor: agents.for,
    });
  return { request, openProxy, close: agents.close };
}

async function followed(request: HttpRequest, wiring: Wiring, signal: AbortSignal) {
  let hop = firstHop(request);
  // A server elsewhere that redirects to this machine would have us ask for it.
  let isSentFromElsewhere = false;
  for (let redirects = 0; ; redirects++) {
    const { isRemote } = request;
    const { message, isElsewhere } = await exchange(hop, wiring, { isRemote, isSentFromElsewhere, signal });
    isSentFromElsewhere ||= isElsewhere;
    const { statusCode = 0, headers } = message;
    if (!request.follow || !isRedirect(statusCode) || headers.location === undefined)
      return { message, hop, redirects };
    await drain(message);
    if (redirects === MAX_REDIRECTS) throw tooManyRedirects(hop);
    hop = nextHop(hop, statusCode, headers.location);
  }
}

function firstHop({ url, method, headers, body }: HttpRequest): Hop {
  const target = parseTarget(url);
  const { authorization } = target;
  if (authorization && headers["authorization"] !== undefined) {
    const message = "url and headers both have credentials; leave one of them out";
    throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "headers", message }] });
  }
  return { target, method, headers: { ...headers, ...(authorization && { authorization }) }, body };
}

const tooManyRedirects = ({ target }: Hop) =>
  new ToolError("LIMIT_EXCEEDED", `more than ${MAX_REDIRECTS} redirects, the last to ${target.shown}`, {
    limit: MAX_REDIRECTS,
    what: "redirects",
  });

/** The text of a redirect is short, and its connection can be used again; a long one is cut off. */
const MAX_DRAINED_BYTES = 64 * 1024;

async function drain(message: IncomingMessage): Promise<void> {
  let length = 0;
  try {
    for await (const chunk of message) {
      length += chunk.length;
      if (length > MAX_DRAINED_BYTES) return;
    }
  } catch {
    // The body is not needed: the location is known.
  }
}

/** Checks, connects and asks once; the answer's body is still on its way. */
async function exchange(
  hop: Hop,
  wiring: Wiring,
  caller: RouteCaller,
): Promise<{ readonly message: IncomingMessage; readonly isElsewhere: boolean }> {
  const { target } = hop;
  const { signal } = caller;
  try {
    const { proxy, addresses } = await resolveAndCheck(target, wiring, caller);
    const isElsewhere = proxy !== undefined || addresses.some((address) => classOf(address) === "public");
    const agent = wiring.agents.for(target, proxy);
    const route = { agent, signal, ...(proxy === undefined && { lookup: pin(addresses) }) };
    return { message: await answerTo(() => requestFor(hop, route), hop), isElsewhere };
  } catch (cause) {
    throw toNetworkError(cause, target);
  }
}

function requestFor(
  { target: { url, host, port }, method, headers, body }: Hop,
  route: Pick<RequestOptions, "agent" | "lookup" | "signal">,
): ClientRequest {
  // Without a length, servers refuse a POST that has no body.
  const hasLength = body !== undefined || method === "POST" || method === "PUT" || method === "PATCH";
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  return request({
    ...route,
    protocol: url.protocol,
    hostname: host,
    port,
    path: url.pathname + url.search,
    method,
    headers: {
      "accept-encoding": ACCEPTED_ENCODINGS,
      accept: "*/*",
      "user-agent": "octant",
      ...headers,
      host: url.host,
      ...(hasLength && { "content-length": String(body?.length ?? 0) }),
    },
    maxHeaderSize: MAX_HEADER_BYTES,
  });
}

/** A pooled connection may just have been closed by the server; idempotent requests are retried. */
async function answerTo(send: () => ClientRequest, { method, body }: Hop): Promise<IncomingMessage> {
  for (;;) {
    const request = send();
    try {
      return await new Promise((resolve, reject) => {
        request.on("response", resolve);
        request.on("error", reject);
        request.end(body);
      });
    } catch (cause) {
      const isStale = request.reusedSocket && GONE.has(codeOf(cause) ?? "");
      if (!isStale || !REPEATABLE.has(method)) throw cause;
    }
  }
}

const GONE = new Set(["ECONNRESET", "EPIPE"]);
const REPEATABLE = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

/** Cancellation propagates unchanged; a deadline becomes TIMEOUT, whatever error it caused. */
async function withDeadline<T>(
  { timeoutMs, signal }: HttpRequest,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    return await work(AbortSignal.any([signal, deadline]));
  } catch (cause) {
    signal.throwIfAborted();
    if (!deadline.aborted) throw cause;
    const message = `the request exceeded ${timeoutMs} ms; a longer timeout may help`;
    throw new ToolError("TIMEOUT", message, { after_ms: timeoutMs });
  }
}
