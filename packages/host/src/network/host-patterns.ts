import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { isInRange } from "./address-class.ts";

/** Where a request goes: a name or an address without brackets, in lower case, and a port. */
export interface Destination {
  readonly host: string;
  readonly port: number;
}

/** One entry of an allow or deny list. */
export interface HostPattern {
  /** Whether the pattern matches the destination, by its name or one of its addresses. */
  matches(destination: Destination, addresses: readonly string[]): boolean;
}

/**
 * `host`, `host:port`, `*.example.com` (everything below it), an address, `[v6]:port`, a range such as `10.0.0.0/8`, or
 * `*`. A bad entry throws a TypeError: a list that means something else than it seems to is worse than none.
 */
export function parseHostPattern(text: string): HostPattern {
  const [, bracketed, plain = bracketed ?? "", portText] = PATTERN.exec(text.trim()) ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  if (plain === "" || (port !== undefined && (port < 1 || port > MAX_PORT))) throw badPattern(text);
  const matchesHost = hostMatcher(plain, text);
  return {
    matches: (destination, addresses) =>
      (port === undefined || port === destination.port) && matchesHost(destination.host, addresses),
  };
}

const MAX_PORT = 65_535;
/** Brackets, or anything without a colon, or a bare IPv6 address or range; then a port. */
const PATTERN = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]]+|[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:./]*))(?::(\d{1,5}))?$/i;

type HostMatcher = (host: string, addresses: readonly string[]) => boolean;

function hostMatcher(plain: string, text: string): HostMatcher {
  if (plain === "*") return () => true;
  if (ipaddr.isValidCIDR(plain)) {
    const range = ipaddr.parseCIDR(plain);
    return (host, addresses) => [host, ...addresses].some((one) => isInRange(one, range));
  }
  if (isIP(plain)) {
    const only = ipaddr.process(plain).toString();
    return (host, addresses) =>
      [host, ...addresses].some((one) => ipaddr.isValid(one) && ipaddr.process(one).toString() === only);
  }
  const isWild = plain.startsWith("*.");
  const name = canonicalName(isWild ? plain.slice(2) : plain);
  if (name === undefined) throw badPattern(text);
  return isWild ? (host) => nameOf(host).endsWith(`.${name}`) : (host) => nameOf(host) === name;
}

/** A name as URLs have it: lower case, international letters encoded. */
function canonicalName(name: string): string | undefined {
  if (/[*/?#@\\%]/.test(name)) return undefined;
  const url = URL.parse(`http://${name}/`);
  return url && !isIP(url.hostname) ? nameOf(url.hostname) : undefined;
}

/** Dots at the end mean the same name. */
export const nameOf = (host: string): string => host.replace(/\.+$/, "");

const badPattern = (text: string) =>
  new TypeError(
    `'${text}' is not a host: write host, host:port, *.example.com, an address or a range like 10.0.0.0/8`,
  );
