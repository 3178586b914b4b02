import type { Reading } from "./path-glob.ts";

const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  "http:": "80",
  "https:": "443",
  "ws:": "80",
  "wss:": "443",
  "ftp:": "21",
};

export interface Host {
  /** As a URL has it: small letters, punycode, no dot at the end, an IPv4 address as such. */
  readonly name: string;
  /** Undefined when the value does not say. */
  readonly port: string | undefined;
}

/** The host of a URL or of `host:port`; undefined when it is not certain. */
export function parseHost(value: string): Host | undefined {
  const url = URL.parse(value);
  if (url && Object.hasOwn(DEFAULT_PORTS, url.protocol))
    return toHost(url.hostname, url.port || DEFAULT_PORTS[url.protocol]);
  if (!/^(?:[^\s/?#@:[\]\\]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(value)) return undefined;
  const port = /:(\d+)$/.exec(value.replace(/^\[.*\]/, ""))?.[1];
  const name = URL.parse(`http://${value.slice(0, value.length - (port ? port.length + 1 : 0))}`)?.hostname;
  return name === undefined ? undefined : toHost(name, port && String(Number(port)));
}

const toHost = (name: string, port: string | undefined): Host | undefined => {
  const bare = name.replace(/\.$/, "").replace(MAPPED, toIpv4);
  return bare === "" ? undefined : { name: bare, port };
};

/** An IPv4 address in an IPv6 one leads to the same machine: mapped, or through a gateway (NAT64). */
const MAPPED = /^\[(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;

const toIpv4 = (_whole: string, high: string, low: string): string =>
  [high, low]
    .map((part) => Number.parseInt(part, 16))
    .flatMap((part) => [part >> 8, part & 0xff])
    .join(".");

/**
 * `example.com` is that name with any port, `*.example.com:443` any name below it with that one, `*` every host. A port
 * that the rule names and the call does not is possible, but not sure.
 */
export function toHostTest(pattern: string, reading: Reading): ((host: Host) => boolean) | undefined {
  const wildcard = /^\*\.?/.exec(pattern)?.[0] ?? "";
  const wanted = parseHost(wildcard === "*" ? `any${pattern.slice(1)}` : pattern.slice(wildcard.length));
  if (!wanted) return undefined;
  const fitsName = ({ name }: Host) => {
    if (wildcard === "*") return true;
    return wildcard ? name.endsWith(`.${wanted.name}`) : name === wanted.name;
  };
  const fitsPort = ({ port }: Host) =>
    wanted.port === undefined || wanted.port === port || (port === undefined && reading === "possible");
  return (host) => fitsName(host) && fitsPort(host);
}
