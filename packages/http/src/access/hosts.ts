import type { IncomingMessage } from "node:http";
import type { HttpRefusal } from "../refusals.ts";
import type { HttpServerOptions } from "../server.ts";

export type HostOptions = Pick<HttpServerOptions, "allowedHosts" | "allowedOrigins"> & {
  readonly host: string;
  /** Whether a name belongs to a site of its own, whose pages may call nothing but themselves. */
  readonly isSite?: (name: string) => boolean;
};

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
const EVERYWHERE: readonly string[] = ["0.0.0.0", "[::]"];

/**
 * A page in a browser can send requests to any address of this machine, and with DNS rebinding under its own name.
 * The browser sends the page's origin and that name, so both are checked first.
 */
export function createHostCheck({
  host,
  allowedHosts = [],
  allowedOrigins = [],
  isSite = () => false,
}: HostOptions) {
  const bound = toHostName(host);
  const own = EVERYWHERE.includes(bound) ? [] : [bound];
  const hosts = new Set([...LOOPBACK, ...own, ...allowedHosts.map((name) => name.toLowerCase())]);
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));

  /** undefined when the request is allowed. */
  return ({ headers, rawHeaders, socket }: IncomingMessage): HttpRefusal | undefined => {
    // Node uses the first of several Host headers; a proxy may have checked the last (RFC 9112, 3.2).
    if (countHosts(rawHeaders) > 1) return { status: 400, message: "send one Host header" };
    const name = hostNameOf(headers.host);
    if (name === undefined || !(hosts.has(name) || isSite(name)))
      return { status: 403, message: "this Host is not served here" };
    const origin = headers.origin?.toLowerCase();
    if (origin === undefined) return undefined;
    // A proxy before us may speak TLS.
    if (isSite(name))
      return /^https?:\/\/(.*)$/.exec(origin)?.[1] === headers.host?.toLowerCase() ? undefined : FOREIGN;
    if (origins.has(origin)) return undefined;
    const ours = `${"encrypted" in socket ? "https" : "http"}://${headers.host?.toLowerCase()}`;
    return origin === ours ? undefined : FOREIGN;
  };
}

const FOREIGN: HttpRefusal = { status: 403, message: "this Origin may not call this server" };

/** Names and values alternate. */
const countHosts = (rawHeaders: readonly string[]): number =>
  rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;

/** The name in a Host header without its port; undefined when it is invalid. */
export function hostNameOf(header: string | undefined): string | undefined {
  return HOST.exec(header?.toLowerCase() ?? "")?.groups?.["name"];
}

const HOST = /^(?<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;

/** A name in a URL by which the server accepts requests: no address of all interfaces is one. */
export function toReachableName({
  host,
  allowedHosts: [first] = [],
}: Pick<HostOptions, "host" | "allowedHosts">): string {
  const bound = toHostName(host);
  return EVERYWHERE.includes(bound) ? (first ?? "127.0.0.1") : bound;
}

/** As written in a URL. */
const toHostName = (host: string): string => (host.includes(":") ? `[${host}]` : host.toLowerCase());
