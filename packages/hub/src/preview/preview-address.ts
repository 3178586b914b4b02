import { invalidArgument } from "@octant/core";

/** A port in the container of a project. */
export interface PreviewTarget {
  readonly project_id: string;
  readonly port: number;
}

/** Where previews are: each has a host name of its own, so a browser keeps its pages apart from all others. */
export interface PreviewAddress {
  /** The domain whose subdomains are previews. */
  readonly domain: string;
  readonly isSecure: boolean;
  originOf(target: PreviewTarget): string;
}

const PREFIX = "project_";
const WILDCARD = "*.";
const HOST = /^(?<port>[1-9]\d{0,4})-(?<id>[a-z0-9]{1,57})\./;
const MAX_PORT = 65_535;

/** `url` has a wildcard for the name of a preview: https://*.preview.example.com. */
export function parsePreviewAddress(url: string): PreviewAddress {
  const parsed = url.includes(`://${WILDCARD}`) ? URL.parse(url.replace(WILDCARD, "")) : null;
  const isWeb = parsed?.protocol === "http:" || parsed?.protocol === "https:";
  if (!parsed || !isWeb || parsed.pathname !== "/" || parsed.hostname === "")
    throw invalidArgument("preview-url", `'${url}' is not of the form https://*.preview.example.com`);
  const { protocol, host, hostname } = parsed;
  return {
    domain: hostname,
    isSecure: protocol === "https:",
    originOf: ({ project_id, port }) => `${protocol}//${port}-${project_id.slice(PREFIX.length)}.${host}`,
  };
}

/**
 * Refuses a domain that shares cookies with the hub: a preview's page could set them for every name above its own.
 */
export function checkApart({ domain }: PreviewAddress, hubNames: readonly string[]): void {
  const shared = hubNames.find((name) => name === domain || isBelow(domain, name) || isBelow(name, domain));
  if (shared === undefined) return;
  const message = `previews below ${domain} could set cookies for the hub at ${shared}; use a domain of its own`;
  throw invalidArgument("preview-url", message);
}

const isBelow = (name: string, domain: string): boolean => name.endsWith(`.${domain}`);

/** The target that a Host header names. */
export function targetOf(host: string | undefined): PreviewTarget | undefined {
  const { port = "", id } = HOST.exec(host?.toLowerCase() ?? "")?.groups ?? {};
  return id === undefined || Number(port) > MAX_PORT
    ? undefined
    : { project_id: `${PREFIX}${id}`, port: Number(port) };
}
