import type { IncomingMessage } from "node:http";

export interface HostOptions {
  readonly host: string;
  /** Names, without port, under which clients reach us beside the address we listen on. */
  readonly allowedHosts?: readonly string[];
  /** Origins of pages that may call us, such as `https://app.example.com`, beside our own. */
  readonly allowedOrigins?: readonly string[];
}

/** Why a request is refused: what it says is malformed, or it comes from a page or under a name that is not ours. */
export interface HostProblem {
  readonly status: 400 | 403;
  readonly message: string;
}

/** Undefined when all is well. */
export type CheckHost = (request: IncomingMessage) => HostProblem | undefined;

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
const EVERYWHERE: readonly string[] = ["0.0.0.0", "[::]"];

/**
 * A page in a browser can send requests to any address of this machine, and by DNS also under a name of its own.
 * The browser names the page and that name, so both are looked at before anything else.
 */
export function createHostCheck({ host, allowedHosts = [], allowedOrigins = [] }: HostOptions): CheckHost {
  const bound = toHostName(host);
  const own = EVERYWHERE.includes(bound) ? [] : [bound];
  const hosts = new Set([...LOOPBACK, ...own, ...allowedHosts.map((name) => name.toLowerCase())]);
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  /** The last one that was served: nearly all requests come with the same. */
  let served: string | undefined;

  return ({ headers, rawHeaders, socket }) => {
    // Node keeps the first of several; a proxy may have looked at the last (RFC 9112, 3.2).
    if (countHosts(rawHeaders) > 1) return { status: 400, message: "send one Host header" };
    if (headers.host === undefined || headers.host !== served) {
      const name = hostNameOf(headers.host);
      if (name === undefined || !hosts.has(name))
        return { status: 403, message: "this Host is not served here" };
      served = headers.host;
    }
    const origin = headers.origin?.toLowerCase();
    if (origin === undefined || origins.has(origin)) return undefined;
    const ours = `${"encrypted" in socket ? "https" : "http"}://${headers.host?.toLowerCase()}`;
    return origin === ours ? undefined : { status: 403, message: "this Origin may not call this server" };
  };
}

/** Names and values take turns. */
const countHosts = (rawHeaders: readonly string[]): number =>
  rawHeaders.filter((name, at) => at % 2 === 0 && name.length === HOST_CHARS && name.toLowerCase() === "host")
    .length;

const HOST_CHARS = "host".length;

/** The name of a Host header without its port; undefined when it is none. */
function hostNameOf(header: string | undefined): string | undefined {
  return HOST.exec(header?.toLowerCase() ?? "")?.groups?.["name"];
}

const HOST = /^(?<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;

/** As a URL writes it. */
export const toHostName = (host: string): string => (host.includes(":") ? `[${host}]` : host.toLowerCase());
