import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Caller } from "@octant/core";
import { createConnections } from "../access/connections.ts";
import { createGate, isRefusal, METADATA_PATH, type Refusal } from "../access/gate.ts";
import { toHostName } from "../access/hosts.ts";
import { createApprovalEndpoint } from "../approvals/endpoint.ts";
import { createService } from "../service.ts";
import { createSseStreams, MESSAGES_PATH, STREAM_PATH } from "../sse/streams.ts";
import { createUpgrades } from "../websocket/upgrades.ts";
import { type CallerEdge, createCallers } from "./callers.ts";
import { answerCors } from "./cors.ts";
import { createEndpoint, MCP_PATH } from "./endpoint.ts";
import { answerFrontPage } from "./front-page.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { createNodeServer } from "./node-server.ts";
import type { HttpOptions, HttpServer } from "./options.ts";
import { ending, type HttpRefusal, notFound, refuse } from "./refusals.ts";
import { sendJson } from "./reply.ts";
import { createWork } from "./work.ts";

const LOOPBACK = "127.0.0.1";
const LAST_READING_MS = 500;

type Route = (request: IncomingMessage, response: ServerResponse, edge: CallerEdge) => void;

/** Serves MCP over HTTP and WebSocket, in both eras, to whoever has a token. */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const { host = LOOPBACK, port = 0, tls, log } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const server = await createNodeServer(tls, limits);
  const work = createWork(options.dispatch);
  const service = createService({ ...options, dispatch: work.dispatch });
  const callers = createCallers(service, limits);
  const gate = createGate({ ...limits, ...options, host }, () => url);
  const connections = createConnections(gate.standingOf);
  const endpoint = createEndpoint(limits, gate.standingOf);
  const sse = options.sse ? createSseStreams(limits) : undefined;
  const upgrades = createUpgrades({ gate, callers, connections, limits, log });
  let url = "";
  let closing: Promise<void> | undefined;

  const routes = new Map<string, Route>([[MCP_PATH, endpoint.handle]]);
  if (sse) {
    routes.set(STREAM_PATH, (request, response, edge) => sse.open(request, response, edge.service));
    routes.set(MESSAGES_PATH, (request, response, edge) => sse.post(request, response, edge.service));
  }

  const receive = (request: IncomingMessage, response: ServerResponse) => {
    if (closing) return refuse(response, ending);
    const refusal = gate.checkHost(request);
    if (refusal) return turnAway(request, response, refusal);
    if (answerCors(request, response)) return;
    if (answerFrontPage(request, response, url)) return;
    const path = pathOf(request);
    const metadata = path.startsWith(METADATA_PATH) ? gate.metadata() : undefined;
    if (metadata) return sendJson(response, 200, JSON.stringify(metadata));
    const identity = gate.identify(request);
    if (identity instanceof Promise) void identity.then((who) => admit(request, response, path, who));
    else admit(request, response, path, identity);
  };
  const admit = (request: IncomingMessage, response: ServerResponse, path: string, who: Caller | Refusal) => {
    if (isRefusal(who)) return turnAway(request, response, who);
    connections.request(request.socket, who, response);
    const route = routes.get(path);
    if (route) route(request, response, callers.get(who));
    else if (approvals?.owns(path)) approvals.handle(request, response, who);
    else turnAway(request, response, notFound);
  };

  server.on("request", receive);
  server.on("upgrade", upgrades.receive);
  server.listen(port, host);
  await once(server, "listening");
  // Nobody is asked to wait for an answer before one can be given.
  const approvals = options.approvals && createApprovalEndpoint(options.approvals, options, limits);
  // It listens on a port, not on a pipe.
  const bound = server.address() as AddressInfo;
  url = options.publicUrl ?? `${tls ? "https" : "http"}://${toHostName(host)}:${bound.port}${MCP_PATH}`;

  const end = async () => {
    const stopped = once(server, "close");
    server.close();
    upgrades.pause();
    approvals?.close();
    await work.quiet(limits.drainMs);
    await Promise.all([endpoint.close(), sse?.close(), upgrades.close(), callers.close()]);
    // Whoever does not read the last answer must not hold up the end.
    const deadline = setTimeout(() => server.closeAllConnections(), LAST_READING_MS);
    server.closeIdleConnections();
    await stopped;
    clearTimeout(deadline);
    connections.close();
    service.close();
  };
  const { promise: closed, resolve, reject } = Promise.withResolvers<void>();
  const close = () => {
    if (!closing) {
      closing = end();
      closing.then(resolve, reject);
    }
    return closed;
  };
  return { url, port: bound.port, closed, close };
}

/** The body of what is refused stays unread, and with it the connection. */
function turnAway(request: IncomingMessage, response: ServerResponse, refusal: HttpRefusal): void {
  const hasBody = request.headers["content-length"] !== undefined || "transfer-encoding" in request.headers;
  const headers = { ...refusal.headers, ...(hasBody && { connection: "close" }) };
  refuse(response, { ...refusal, headers });
}

function pathOf({ url = "/" }: IncomingMessage): string {
  const end = url.indexOf("?");
  return end === -1 ? url : url.slice(0, end);
}
