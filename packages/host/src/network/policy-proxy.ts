import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type RequestOptions,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { ToolError } from "@octant/core";
import { admit } from "./admit.ts";
import { pin } from "./agents.ts";
import type { Wiring } from "./exchange.ts";
import { MAX_HEADER_BYTES, toNetworkError } from "./failures.ts";
import { joinTunnel } from "./join-tunnel.ts";
import { isHttp, type Target, toTarget } from "./target.ts";
import { openTunnel } from "./tunnel.ts";

/** An HTTP proxy that applies the network policy to another program, such as a browser. */
export interface PolicyProxy {
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

export interface PolicyProxyOptions {
  readonly listen: "socket" | "port";
  readonly isRemote: boolean;
  readonly site?: LocalSite;
}

const MAX_REFUSALS = 200;

export async function createPolicyProxy(
  wiring: Wiring,
  { listen, isRemote, site }: PolicyProxyOptions,
): Promise<PolicyProxy> {
  const closing = new AbortController();
  const refusals = new Map<string, ToolError>();
  /** Remembers how a connection went, until the next one to the same host. */
  const noting = async <T>(target: Target, work: () => Promise<T>): Promise<T> => {
    const { host } = target.url;
    try {
      const result = await work();
      refusals.delete(host);
      return result;
    } catch (cause) {
      const error = toNetworkError(cause, target);
      if (error instanceof ToolError) refusals.set(host, error);
      for (const oldest of refusals.keys()) if (refusals.size > MAX_REFUSALS) refusals.delete(oldest);
      throw error;
    }
  };
  const admitted = (target: Target) => admit(target, wiring, { isRemote, signal: closing.signal });

  const forward = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = URL.parse(incoming.url ?? "");
    if (!url || !isHttp(url)) return refuse(response, BAD_REQUEST, "not an absolute http URL");
    if (site && url.hostname === site.host) return site.answer(incoming, url, response);
    const target = toTarget(url);
    await noting(target, async () => {
      const { proxy, addresses } = await admitted(target);
      const route = {
        agent: wiring.agents.for(target, proxy),
        ...(proxy === undefined && { lookup: pin(addresses) }),
      };
      await exchange(incoming, response, target, route);
    });
  };

  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (incoming, response) => {
    forward(incoming, response).catch((cause) => refuseFor(response, cause));
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
      const status = isBlocked(cause) ? "403 Forbidden" : "502 Bad Gateway";
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    });
  });
  const tunnel = async (incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<Duplex> => {
    const url = URL.parse(`https://${incoming.url ?? ""}`);
    if (url?.pathname !== "/") throw new Error("not a host with a port");
    const target = toTarget(url);
    const upstream = await noting(target, async () =>
      openTunnel(target, await admitted(target), closing.signal),
    );
    joinTunnel(socket, upstream, head);
    return upstream;
  };

  const folder = listen === "socket" ? mkdtempSync(join(tmpdir(), "octant-proxy-")) : undefined;
  if (folder === undefined) server.listen(0, "127.0.0.1");
  else server.listen(join(folder, "socket"));
  await once(server, "listening");
  server.unref();
  return {
    // A server that listens on a port has an address of that form.
    address: folder ? join(folder, "socket") : `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refusal: (host) => refusals.get(host),
    async close() {
      closing.abort();
      for (const socket of open) socket.destroy();
      server.close();
      if (folder) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const BAD_REQUEST = 400;
const FORBIDDEN = 403;
const BAD_GATEWAY = 502;

/** These are between the client and us. */
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
    ...{ protocol: url.protocol, hostname: host, port, method: incoming.method },
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
  response.writeHead(answer.statusCode ?? BAD_GATEWAY, answer.statusMessage, endToEnd(answer.rawHeaders));
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

function refuseFor(response: ServerResponse, cause: unknown): void {
  const message = cause instanceof ToolError ? cause.message : "the host could not be reached";
  refuse(response, isBlocked(cause) ? FORBIDDEN : BAD_GATEWAY, message);
}

const isBlocked = (cause: unknown): boolean => cause instanceof ToolError && cause.code === "NET_BLOCKED";

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`octant: ${message}\n`);
}
