import { setImmediate as oneTurn } from "node:timers/promises";
import { type Caller, createLargeCalls } from "@octant/core";
import {
  createHttpServer,
  type Handle,
  type HttpServer,
  methodNotAllowed,
  readJson,
  refuse,
  refuseUpgrade,
} from "@octant/http";
import { parseJson } from "../messages.ts";
import { createToolRunner } from "../methods/tools.ts";
import { createService, type EdgeDispatch, type Service } from "../service.ts";
import { createSseStreams, MESSAGES_PATH, STREAM_PATH } from "../sse/streams.ts";
import { offersMcp, SOCKET_PATH } from "../websocket/handshake.ts";
import type { Sockets } from "../websocket/sockets.ts";
import { answerFrontPage } from "./front-page.ts";
import { isModern } from "./headers.ts";
import type { HttpOptions } from "./index.ts";
import { DEFAULT_LIMITS, type Limits } from "./limits.ts";
import { answerModern, type CallerEdge } from "./modern.ts";
import { createSessions } from "./sessions.ts";

const MCP_PATH = "/mcp";

/** The MCP headers that pages may send and read. */
const MCP_CORS = {
  allow: ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"],
  expose: ["mcp-session-id"],
};

const NO_SUBPROTOCOL = { status: 400, message: "offer the subprotocol 'mcp'" };

/** A listener with MCP on it, in both eras, for callers with a token: at /mcp, /ws and, optionally, /sse. */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const server = await createHttpServer({ ...options, resourcePath: MCP_PATH, cors: MCP_CORS });
  mountMcp(server, options);
  server.mount("/", {
    handlePublic: (request, response) => answerFrontPage(request, response, server.url),
  });
  await server.listen();
  return server;
}

function mountMcp(server: HttpServer, options: HttpOptions): void {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const work = createWork(options.dispatch);
  const service = createService({ ...options, dispatch: work.dispatch });
  const callers = createCallers(service, limits);
  const sessions = createSessions(limits, server.standingOf);
  const ending = new AbortController();
  // An answer counts until it was read, so no other call waits for a client that reads nothing.
  const parts = { large: createLargeCalls(() => false), limits, ending: ending.signal };
  const sse = options.sse ? createSseStreams(limits) : undefined;
  let sockets: Promise<Sockets> | undefined;
  const loadSockets = async () => {
    const { createSockets } = await import("../websocket/sockets.ts");
    return createSockets(limits, server.connections);
  };
  /** Streamable HTTP: both eras at one address. */
  const handle: Handle = (request, response, caller) => {
    const edge = callers(caller);
    if (request.method === "GET") return sessions.listen(request, response, edge.service);
    if (request.method === "DELETE") return sessions.end(request, response, edge.service);
    if (request.method !== "POST") return refuse(response, methodNotAllowed("GET, POST, DELETE"));
    const answer = (value: unknown) => {
      if (isModern(request.headers, value)) answerModern({ request, response, value }, edge, parts);
      else sessions.post(request, response, value, edge.service);
    };
    readJson(request, response, limits.maxBodyBytes, answer, parseJson);
  };

  server.mount(MCP_PATH, {
    handle,
    async drain(drainMs) {
      void sockets?.then((open) => open.pause());
      await work.quiet(drainMs);
    },
    async close() {
      ending.abort();
      await Promise.all([sessions.close(), sse?.close(), sockets?.then((open) => open.close())]);
      service.close();
    },
  });
  server.mount(SOCKET_PATH, {
    async upgrade(request, socket, head, caller) {
      if (!offersMcp(request)) return refuseUpgrade(socket, NO_SUBPROTOCOL);
      sockets ??= loadSockets();
      (await sockets).accept(request, socket, head, callers(caller).service);
    },
  });
  if (!sse) return;
  server.mount(STREAM_PATH, (request, response, caller) =>
    sse.open(request, response, callers(caller).service),
  );
  server.mount(MESSAGES_PATH, (request, response, caller) =>
    sse.post(request, response, callers(caller).service),
  );
}

/** Counts running calls, so that closing can wait for them. */
function createWork(dispatch: EdgeDispatch) {
  let running = 0;
  let onQuiet = () => {};
  const counted: EdgeDispatch = async (call, options) => {
    running++;
    try {
      return await dispatch(call, options);
    } finally {
      if (--running === 0) onQuiet();
    }
  };
  return {
    dispatch: counted,
    /** Resolves when no call runs and the last answers were written, or after the timeout. */
    async quiet(withinMs: number): Promise<void> {
      if (running > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, withinMs);
        onQuiet = resolve;
        await promise;
        clearTimeout(timer);
      }
      await oneTurn();
    },
  };
}

/** Beyond this number a new caller replaces the least recently active one. */
const MAX_CALLERS = 1_000;

/** The state shared by all requests of each caller. */
function createCallers(service: Service, limits: Limits): (caller: Caller) => CallerEdge {
  const edges = new Map<string, CallerEdge>();
  const open = (caller: Caller): CallerEdge => {
    const own: Service = { ...service, caller };
    return { service: own, runTool: createToolRunner(own, limits.maxCallsInFlight) };
  };
  return (caller) => {
    // The scopes of a token may change during its lifetime.
    const key = `${caller.id} ${caller.access} ${caller.project}`;
    const edge = edges.get(key) ?? open(caller);
    edges.delete(key);
    const [quietest] = edges.keys();
    if (edges.size >= MAX_CALLERS && quietest !== undefined) edges.delete(quietest);
    edges.set(key, edge);
    return edge;
  };
}
