import { readFileSync } from "node:fs";
import { createServer, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";
import type { HttpLimits } from "./limits.ts";
import type { HttpServerOptions } from "./server.ts";

const MAX_HEADER_BYTES = 16 * 1024;
const MAX_HEADERS = 100;
/** How often Node checks for requests that arrive too slowly. */
const CHECK_MS = 1_000;
/** Longer than the timeout of proxies, so that they close first. */
const KEEP_ALIVE_MS = 65_000;

/** Node's server with our limits; with TLS when certificate files are given. */
export async function createNodeServer(tls: HttpServerOptions["tls"], limits: HttpLimits): Promise<Server> {
  const checkMs = Math.min(CHECK_MS, limits.headersMs);
  const settings = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.bodyMs,
    connectionsCheckingInterval: checkMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
  };
  const server = tls ? await createSecureServer(tls, settings) : createServer(settings);
  server.maxHeadersCount = MAX_HEADERS;
  server.maxConnections = limits.maxConnections;
  limitConnectionsPerAddress(server, limits.maxConnectionsPerAddress);
  // After Node's own check, which answers headers that are not complete.
  closeSilentConnections(server, tls ? "secureConnection" : "connection", limits.headersMs + 2 * checkMs);
  return server;
}

/** Node's timeouts start with the first byte of a request; a connection without one would stay open for ever. */
function closeSilentConnections(server: Server, event: "connection" | "secureConnection", ms: number): void {
  const waiting = new Map<Socket, NodeJS.Timeout>();
  const stopWaiting = (socket: Socket) => {
    clearTimeout(waiting.get(socket));
    waiting.delete(socket);
  };
  server.on(event, (socket: Socket) => {
    waiting.set(socket, setTimeout(() => socket.destroy(), ms).unref());
    socket.once("close", () => stopWaiting(socket));
  });
  server.on("request", ({ socket }) => stopWaiting(socket));
  server.on("upgrade", ({ socket }) => stopWaiting(socket));
}

async function createSecureServer(
  tls: NonNullable<HttpServerOptions["tls"]>,
  settings: ServerOptions & { readonly headersTimeout: number },
): Promise<Server> {
  const { createServer: createHttps } = await import("node:https");
  const [cert, key] = [readFileSync(tls.cert), readFileSync(tls.key)];
  // The request timeout does not start before the TLS handshake ends.
  return createHttps({ ...settings, handshakeTimeout: settings.headersTimeout, cert, key });
}

function limitConnectionsPerAddress(server: Server, max: number): void {
  const counts = new Map<string, number>();
  server.on("connection", (socket) => {
    const address = socket.remoteAddress ?? "";
    const count = (counts.get(address) ?? 0) + 1;
    counts.set(address, count);
    socket.once("close", () => {
      const left = (counts.get(address) ?? 1) - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    });
    if (count > max) socket.destroy();
  });
}
