import { once } from "node:events";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { pin, type Route } from "./resolve-and-check.ts";
import type { Target } from "./target.ts";

/** A connection to a permitted target, through the proxy that was chosen for it or straight. */
export async function openTunnel(
  { host, port }: Target,
  { proxy, addresses }: Route,
  signal: AbortSignal,
): Promise<Duplex> {
  if (proxy !== undefined) return openThroughProxy(new URL(proxy), `${bracketed(host)}:${port}`, signal);
  const socket = connect({ host, port, lookup: pin(addresses), signal });
  await once(socket, "connect", { signal });
  return socket;
}

async function openThroughProxy(proxy: URL, authority: string, signal: AbortSignal): Promise<Duplex> {
  const request = proxy.protocol === "https:" ? requestHttps : requestHttp;
  const { username, password } = proxy;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const sent = request({
    protocol: proxy.protocol,
    hostname: proxy.hostname,
    port: proxy.port,
    agent: false,
    signal,
    method: "CONNECT",
    path: authority,
    headers: {
      host: authority,
      ...(username && { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` }),
    },
  });
  sent.end();
  const [{ statusCode }, socket] = (await once(sent, "connect", { signal })) as [
    { statusCode?: number },
    Duplex,
  ];
  if (statusCode === 200) return socket;
  socket.destroy();
  throw new Error(`the proxy answered ${statusCode}`);
}

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** Answers a CONNECT request and connects its two ends until one of them closes. */
export function joinTunnel(socket: Duplex, upstream: Duplex, head: Buffer): void {
  upstream.on("error", () => socket.destroy());
  upstream.on("close", () => socket.destroy());
  socket.on("close", () => upstream.destroy());
  socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  upstream.write(head);
  socket.pipe(upstream).pipe(socket);
}
