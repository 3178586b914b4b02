import ipaddr from "ipaddr.js";

/** A host that settings name. Without a port: those of the web. */
export interface HostRule {
  readonly host: string;
  readonly below: boolean;
  readonly ports: readonly number[];
}

const WEB_PORTS = [80, 443];
const HIGHEST_PORT = 65_535;
/** A name or an address with its port; nothing that a resolver might interpret differently. */
const TARGET = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_](?:[a-z0-9._-]{0,251}[a-z0-9_])?))\.?(?::(\d{1,5}))?$/i;

/** `host`, `host:port`, `*.host` or `[address]:port`. Throws a TypeError for anything else. */
export function parseHostRule(text: string): HostRule {
  const below = text.startsWith("*.");
  const target = parseTarget(below ? text.slice(2) : text);
  if (!target) throw new TypeError(`'${text}' is not a host; write host, host:port or *.host`);
  return { host: target.host, below, ports: target.port === undefined ? WEB_PORTS : [target.port] };
}

/** Lower case, without the brackets of an address and the last dot of a name; undefined when it is not a host. */
export function parseTarget(text: string): { host: string; port: number | undefined } | undefined {
  const [, address, name, port] = TARGET.exec(text) ?? [];
  // An address has many spellings, of which a URL has one.
  const canonical = address === undefined ? name : URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1);
  const host = canonical?.toLowerCase();
  if (host === undefined || host.includes("..")) return undefined;
  if (port === undefined) return { host, port };
  return Number(port) > 0 && Number(port) <= HIGHEST_PORT ? { host, port: Number(port) } : undefined;
}

export const findRule = (
  rules: readonly HostRule[],
  { host, port }: { readonly host: string; readonly port: number },
): HostRule | undefined =>
  rules.find(
    (rule) => rule.ports.includes(port) && (rule.below ? host.endsWith(`.${rule.host}`) : host === rule.host),
  );

/** A name may lead to the world only; this machine and its network have to be named by address, or as localhost. */
export const mayConnect = (rule: HostRule, address: string): boolean =>
  rangeOf(address) === "unicast" ||
  (!rule.below && (rule.host === address || (rule.host === "localhost" && rangeOf(address) === "loopback")));

const rangeOf = (address: string): string => ipaddr.process(address).range();
