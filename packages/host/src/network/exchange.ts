import {
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from "node:http";
import { request as requestHttps } from "node:https";
import { type AdmitTools, admit } from "./admit.ts";
import { type Agents, pin } from "./agents.ts";
import { ACCEPTED_ENCODINGS } from "./decode.ts";
import { codeOf, MAX_HEADER_BYTES, toNetworkError } from "./failures.ts";
import type { Hop } from "./redirects.ts";

/** The dependencies of a hop. */
export interface Wiring extends AdmitTools {
  readonly agents: Agents;
}

export interface HopOptions {
  readonly isRemote: boolean;
  readonly signal: AbortSignal;
}

/** Checks, connects and asks once; the answer's body is still on its way. */
export async function exchangeOnce(hop: Hop, wiring: Wiring, options: HopOptions): Promise<IncomingMessage> {
  const { target } = hop;
  try {
    const { proxy, addresses } = await admit(target, wiring, options);
    const isOurs = proxy === undefined;
    const route = { agent: wiring.agents.for(target, proxy), ...(isOurs && { lookup: pin(addresses) }) };
    const send = () => requestFor(hop, route, options.signal);
    return await answerTo(send, hop);
  } catch (cause) {
    throw toNetworkError(cause, target);
  }
}

type Route = Pick<RequestOptions, "agent" | "lookup">;

function requestFor(
  { target, method, headers, body }: Hop,
  route: Route,
  signal: AbortSignal,
): ClientRequest {
  const { url, host, port } = target;
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
      "user-agent": USER_AGENT,
      ...headers,
      host: url.host,
      ...(hasLength(method, body) && { "content-length": String(body?.length ?? 0) }),
    },
    signal,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
}

const USER_AGENT = "octant";

/** Without a length, servers refuse a POST that has no body. */
const hasLength = (method: string, body: Buffer | undefined) =>
  body !== undefined || method === "POST" || method === "PUT" || method === "PATCH";

/** A pooled connection may just have been closed by the server; idempotent requests are retried. */
async function answerTo(send: () => ClientRequest, { method, body }: Hop): Promise<IncomingMessage> {
  for (;;) {
    const request = send();
    try {
      return await answerOf(request, body);
    } catch (cause) {
      const isStale = request.reusedSocket && GONE.has(codeOf(cause) ?? "");
      if (!isStale || !REPEATABLE.has(method)) throw cause;
    }
  }
}

const GONE = new Set(["ECONNRESET", "EPIPE"]);
const REPEATABLE = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

const answerOf = (request: ClientRequest, body: Buffer | undefined): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.on("response", resolve);
    request.on("error", reject);
    request.end(body);
  });
