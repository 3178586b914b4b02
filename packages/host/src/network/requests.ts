import type { IncomingMessage } from "node:http";
import { ToolError } from "@octant/core";
import { createAgents } from "./agents.ts";
import { decodedBody } from "./decode.ts";
import { exchangeOnce, type Wiring } from "./exchange.ts";
import type { HttpRequest, Network, NetworkOptions } from "./network.ts";
import type { Gate } from "./policy.ts";
import { createPolicyProxy } from "./policy-proxy.ts";
import { createProxyChoice } from "./proxy.ts";
import { type Hop, isRedirect, nextHop } from "./redirects.ts";
import { systemResolve } from "./resolve.ts";
import { parseTarget } from "./target.ts";

const MAX_REDIRECTS = 10;

/** The part of the network that takes time to load. */
export function createRequests(
  gate: Gate,
  options: NetworkOptions,
): Pick<Network, "request" | "openProxy" | "close"> {
  const { env = {}, resolve = systemResolve, ca, warn = () => {} } = options;
  const agents = createAgents(ca);
  const wiring: Wiring = { gate, resolve, chooseProxy: createProxyChoice(env, warn), agents };
  return {
    request: (request, use) =>
      withDeadline(request, async (signal) => {
        const { message, hop, redirects } = await followed(request, wiring, signal);
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
      }),
    openProxy: (how) => createPolicyProxy(wiring, how),
    close: agents.close,
  };
}

async function followed(request: HttpRequest, wiring: Wiring, signal: AbortSignal) {
  const options = { isRemote: request.isRemote, signal };
  let hop = firstHop(request);
  for (let redirects = 0; ; redirects++) {
    const message = await exchangeOnce(hop, wiring, options);
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
    // Where it leads is known already.
  }
}

/** Cancellation propagates unchanged; a deadline becomes TIMEOUT, whatever error it caused. */
async function withDeadline<T>(
  { timeoutMs, signal }: HttpRequest,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const stop = new AbortController();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    stop.abort();
  }, timeoutMs);
  const cancel = () => stop.abort(signal.reason);
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await work(stop.signal);
  } catch (cause) {
    signal.throwIfAborted();
    if (!isLate) throw cause;
    const message = `not done after ${timeoutMs} ms; a longer timeout may help`;
    throw new ToolError("TIMEOUT", message, { after_ms: timeoutMs });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}
