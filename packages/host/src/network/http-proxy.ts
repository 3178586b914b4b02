import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import {
  type Agent,
  createServer,
  type IncomingMessage,
  type RequestOptions,
  request,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { ToolError } from "@octant/core";
import { MAX_HEADER_BYTES, toNetworkError } from "./failures.ts";
import { pin, type Route } from "./resolve-and-check.ts";
import { isHttp, type Target, toTarget } from "./target.ts";
import { joinTunnel, openTunnel } from "./tunnel.ts";

/** An HTTP proxy that restricts the hosts another program, such as a browser, may reach. */
export interface HttpProxy {
  /** A socket in a private folder, or `http://127.0.0.1:port`. */
  readonly address: string;
  /** Why the last connection to a host, with its port as URLs have it, was refused or failed. */
  refusal(host: string): ToolError | undefined;
  close(): Promise<void>;
}

/** A site that is answered here and never leaves the machine. */
export interface LocalSite {
  readonly host: string;
  answer(request: IncomingMessage, url: URL, response: ServerResponse): void;
}

export interface HttpProxyOptions {
  /** A given socket must be in a folder that only its owner can write to. */
  readonly listen: "socket" | "port" | { readonly socket: string };
  readonly site?: LocalSite | undefined;
  /** NET_BLOCKED for a target that the program may not reach. */
  routeTo(target: Target, signal: AbortSignal): Promise<Route>;
  /** For connections that are used again. */
  agentFor?(target: Target, proxy: string | undefined): Agent;
}

const MAX_REFUSALS = 200;

export async function createHttpProxy(options: HttpProxyOptions): Promise<HttpProxy> {
  const { listen, site, routeTo, agentFor } = options;
  const closing = new AbortController();
  const refusals = new Map<string, ToolError>();
  /** Remembers how a connection went, until the next one to the same host. */
  const connecting = async <T>(target: Target, work: (route: Route) => Promise<T>): Promise<T> => {
    const { host } = target.url;
    try {
      const result = await work(await routeTo(target, closing.signal));
      refusals.delete(host);
      return result;
    } catch (cause) {
      const error = toNetworkError(cause, target);
      if (error instanceof ToolError) refusals.set(host, error);
      for (const oldest of refusals.keys()) if (refusals.size > MAX_REFUSALS) refusals.delete(oldest);
      throw error;
    }
  };

  const forward = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = URL.parse(incoming.url ?? "");
    if (!url || !isHttp(url)) throw badRequest("not an absolute http URL");
    if (site && url.hostname === site.host) return site.answer(incoming, url, response);
    const target = toTarget(url);
    await connecting(target, async ({ proxy, addresses }) => {
      const agent = agentFor?.(target, proxy) ?? false;
      await exchange(incoming, response, target, {
        agent,
        ...(proxy === undefined && { lookup: pin(addresses) }),
      });
    });
  };
  const tunnel = async (incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<Duplex> => {
    const url = URL.parse(`https://${incoming.url ?? ""}`);
    if (url?.pathname !== "/") throw badRequest("not a host with a port");
    const target = toTarget(url);
    const upstream = await connecting(target, (route) => openTunnel(target, route, closing.signal));
    joinTunnel(socket, upstream, head);
    return upstream;
  };

  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (incoming, response) => {
    forward(incoming, response).catch((cause) => {
      if (response.headersSent) return void response.destroy();
      const { status, message } = toRefusal(cause);
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(message);
    });
  });
  const open = new Set<Duplex>();
  const track = (socket: Duplex) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  };
  server.on("connection", track);
  server.on("connect", (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Before anything is awaited: a client that hangs up meanwhile must not bring the server down.
    socket.on("error", () => socket.destroy());
    tunnel(incoming, socket, head).then(track, (cause) => {
      const { status, message } = toRefusal(cause);
      const line = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
      socket.end(`${line}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${message}`);
    });
  });

  const folder = listen === "socket" ? mkdtempSync(join(tmpdir(), "octant-proxy-")) : undefined;
  const socketPath = typeof listen === "object" ? listen.socket : folder && join(folder, "socket");
  if (socketPath === undefined) server.listen(0, "127.0.0.1");
  else server.listen(socketPath);
  await once(server, "listening");
  server.unref();
  return {
    // A server that listens on a port has an address of that form.
    address: socketPath ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refusal: (host) => refusals.get(host),
    async close() {
      closing.abort();
      for (const socket of open) socket.destroy();
      server.close();
      if (folder) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Hop-by-hop headers. */
const HOP_HEADERS = new Set([
  ...["connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "upgrade", "host"],
]);

async function exchange(
  incoming: IncomingMessage,
  response: ServerResponse,
  { url, host, port }: Target,
  route: Pick<RequestOptions, "agent" | "lookup">,
): Promise<void> {
  const headers = Object.entries(incoming.headers).filter(([name]) => !HOP_HEADERS.has(name));
  const upstream = request({
    ...route,
    protocol: url.protocol,
    hostname: host,
    port,
    method: incoming.method,
    path: url.pathname + url.search,
    headers: { ...Object.fromEntries(headers), host: url.host },
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  response.on("close", () => upstream.destroy());
  incoming.on("error", () => upstream.destroy());
  incoming.pipe(upstream);
  const [answer]: [IncomingMessage] = (await once(upstream, "response")) as [IncomingMessage];
  upstream.on("error", () => response.destroy());
  answer.on("error", () => response.destroy());
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders));
  answer.pipe(response);
}

/** Names and values alternate; several cookies stay several. */
function endToEnd(rawHeaders: readonly string[]): string[] {
  const isForwarded = (index: number) => {
    const name = rawHeaders[index - (index % 2)]?.toLowerCase() ?? "";
    return name !== "connection" && name !== "keep-alive" && name !== "transfer-encoding";
  };
  return rawHeaders.filter((_, index) => isForwarded(index));
}

const badRequest = (message: string) =>
  new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "url", message }] });

function toRefusal(cause: unknown): { status: 400 | 403 | 502; message: string } {
  if (!(cause instanceof ToolError))
    return { status: 502, message: "octant: the host could not be reached\n" };
  const status = cause.code === "NET_BLOCKED" ? 403 : cause.code === "INVALID_ARGUMENT" ? 400 : 502;
  return { status, message: `octant: ${cause.message}\n` };
}
