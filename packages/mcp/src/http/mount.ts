import type { Duplex } from "node:stream";
import { type Handle, type HttpServer, refuseUpgrade } from "@octant/http";
import { createService } from "../service.ts";
import { createSseStreams, MESSAGES_PATH, STREAM_PATH } from "../sse/streams.ts";
import { offersMcp, SOCKET_PATH } from "../websocket/handshake.ts";
import type { Sockets } from "../websocket/sockets.ts";
import { type CallerEdge, createCallers } from "./callers.ts";
import { createEndpoint, MCP_PATH } from "./endpoint.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import type { McpMountOptions } from "./options.ts";
import { createWork } from "./work.ts";

/** The MCP headers that pages may send and read. */
export const MCP_CORS = {
  allow: ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"],
  expose: ["mcp-session-id"],
};

const NO_SUBPROTOCOL = { status: 400, message: "offer the subprotocol 'mcp'" };

/** Serves MCP at /mcp, /ws and, optionally, /sse. */
export function mountMcp(server: HttpServer, options: McpMountOptions): void {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const work = createWork(options.dispatch);
  const service = createService({ ...options, dispatch: work.dispatch });
  const callers = createCallers(service, limits);
  const endpoint = createEndpoint(limits, server.standingOf);
  const sse = options.sse ? createSseStreams(limits) : undefined;
  let sockets: Promise<Sockets> | undefined;
  const loadSockets = async () => {
    const { createSockets } = await import("../websocket/sockets.ts");
    return createSockets(limits, server.connections);
  };
  const as =
    (handle: (...[request, response, edge]: [...Parameters<Handle>, CallerEdge]) => void): Handle =>
    (request, response, caller) =>
      handle(request, response, caller, callers(caller));

  server.mount(MCP_PATH, {
    handle: as((request, response, _caller, edge) => endpoint.handle(request, response, edge)),
    async drain(drainMs) {
      void sockets?.then((open) => open.pause());
      await work.quiet(drainMs);
    },
    async close() {
      await Promise.all([endpoint.close(), sse?.close(), sockets?.then((open) => open.close())]);
      service.close();
    },
  });
  server.mount(SOCKET_PATH, {
    async upgrade(request, socket: Duplex, head, caller) {
      if (!offersMcp(request)) return refuseUpgrade(socket, NO_SUBPROTOCOL);
      sockets ??= loadSockets();
      (await sockets).accept(request, socket, head, callers(caller).service);
    },
  });
  if (!sse) return;
  server.mount(
    STREAM_PATH,
    as((request, response, _caller, { service: own }) => sse.open(request, response, own)),
  );
  server.mount(
    MESSAGES_PATH,
    as((request, response, _caller, { service: own }) => sse.post(request, response, own)),
  );
}
