import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { joinTunnel } from "../network/join-tunnel.ts";
import { findRule, mayConnect, parseHostRule, parseTarget, type Target } from "./proxy-rules.ts";

export interface HostProxy {
  /** Where it listens: a socket in a private folder. */
  readonly socket: string;
  close(): Promise<void>;
}

type Resolve = (host: string) => Promise<readonly string[]>;

/** An HTTP proxy that resolves names itself and connects to the hosts that settings name, and to no other. */
export async function createProxy(
  hosts: readonly string[],
  resolve: Resolve = resolveHost,
): Promise<HostProxy> {
  const rules = hosts.map(parseHostRule);
  const addressOf = async (target: Target): Promise<string> => {
    const rule = findRule(rules, target);
    if (!rule)
      throw new Refused(`${target.host}:${target.port} is not among the hosts that the sandbox allows`);
    const addresses = isIP(target.host) ? [target.host] : await resolve(target.host);
    const address = addresses[0];
    if (address === undefined) throw new Refused(`${target.host} has no address`);
    if (addresses.every((one) => mayConnect(rule, one))) return address;
    throw new Refused(
      `${target.host} leads to an address of this network, which is allowed only by its number`,
    );
  };

  const server = createServer((incoming, response) => {
    forward(incoming, response, addressOf).catch((cause) => refuse(response, cause));
  });
  const open = new Set<Duplex>();
  const track = (socket: Duplex) => open.add(socket).size && socket.on("close", () => open.delete(socket));
  server.on("connection", track);
  server.on("connect", (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    tunnel(incoming, socket, head, addressOf).then(track, (cause) => {
      const { status, message } = toAnswer(cause);
      socket.end(`HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${message}\n`);
    });
  });

  const folder = mkdtempSync(join(tmpdir(), "octant-proxy-"));
  const socket = join(folder, "socket");
  server.listen(socket);
  await once(server, "listening");
  server.unref();
  return {
    socket,
    async close() {
      for (const one of open) one.destroy();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type AddressOf = (target: Target) => Promise<string>;

class Refused extends Error {}

async function tunnel(
  incoming: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  addressOf: AddressOf,
): Promise<Socket> {
  // Before anything is awaited: a client that hangs up meanwhile must not bring the server down.
  socket.on("error", () => socket.destroy());
  const target = parseTarget(incoming.url ?? "", HTTPS_PORT);
  if (!target) throw new Refused("the host is not written as one");
  const upstream = connect({ host: await addressOf(target), port: target.port });
  await once(upstream, "connect");
  joinTunnel(socket, upstream, head);
  return upstream;
}

const HTTP_PORT = 80;
const HTTPS_PORT = 443;
/** These are between the client and us. */
const HOP_HEADERS = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authorization",
  "te",
  "upgrade",
]);

async function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  addressOf: AddressOf,
): Promise<void> {
  const [, authority = "", path = "/"] = /^http:\/\/([^/?#]*)(.*)$/i.exec(incoming.url ?? "") ?? [];
  const target = parseTarget(authority, HTTP_PORT);
  if (!target) throw new Refused("the host is not written as one");
  const headers = Object.entries(incoming.headers).filter(([name]) => !HOP_HEADERS.has(name));
  const upstream = request({
    ...{
      host: await addressOf(target),
      port: target.port,
      method: incoming.method,
      setHost: false,
      agent: false,
    },
    path: path.startsWith("/") ? path : `/${path}`,
    headers: { ...Object.fromEntries(headers), host: authority },
  });
  upstream.on("error", (cause) => refuse(response, cause));
  response.on("close", () => upstream.destroy());
  upstream.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  incoming.pipe(upstream);
}

function refuse(response: ServerResponse, cause: unknown): void {
  if (response.headersSent) return void response.destroy();
  const { status, message } = toAnswer(cause);
  response.writeHead(Number(status.slice(0, 3)), { "content-type": "text/plain" }).end(`${message}\n`);
}

const toAnswer = (cause: unknown): { status: string; message: string } =>
  cause instanceof Refused
    ? { status: "403 Forbidden", message: `octant: ${cause.message}` }
    : { status: "502 Bad Gateway", message: "octant: the host could not be reached" };

const resolveHost: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);
