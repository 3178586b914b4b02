import { isIP } from "node:net";
import { attempt } from "@octant/core";
import { classOf } from "./address-class.ts";
import { type HostPattern, nameOf, parseHostPattern } from "./host-patterns.ts";
import { isHttp, type Target } from "./target.ts";

/** The proxy for a request; undefined for a direct connection. */
export type ChooseProxy = (target: Target) => string | undefined;

/** The proxies for both kinds of URLs, and the hosts that need none as no_proxy lists them. */
export interface Proxies {
  readonly http: string | undefined;
  readonly https: string | undefined;
  readonly direct: readonly string[];
}

/**
 * Proxies as the person's environment names them: https_proxy, http_proxy, all_proxy, no_proxy, in either case. A
 * setting that is not an http URL is reported and ignored. undefined without any.
 */
export function readProxies(env: NodeJS.ProcessEnv, warn: (message: string) => void): Proxies | undefined {
  const read = (name: string) => env[name] || env[name.toUpperCase()];
  const proxyOf = (name: string): string | undefined => {
    const value = read(name);
    if (value === undefined) return undefined;
    const url = URL.parse(value.includes("://") ? value : `http://${value}`);
    if (url && isHttp(url)) return url.href;
    warn(`${name} is not an http or https URL and is not used`);
    return undefined;
  };
  const any = proxyOf("all_proxy");
  const http = proxyOf("http_proxy") ?? any;
  const https = proxyOf("https_proxy") ?? any;
  if (http === undefined && https === undefined) return undefined;
  return { http, https, direct: (read("no_proxy") ?? "").split(/[\s,]+/).filter(Boolean) };
}

export function createProxyChoice(env: NodeJS.ProcessEnv, warn: (message: string) => void): ChooseProxy {
  const proxies = readProxies(env, warn);
  if (!proxies) return () => undefined;
  const { http, https } = proxies;
  const direct = proxies.direct.flatMap(toPatterns);
  return (target) => {
    if (isThisMachine(target.host) || direct.some((pattern) => pattern.matches(target, []))) return undefined;
    return target.url.protocol === "https:" ? https : http;
  };
}

/** In no_proxy a name means itself and everything below it, with or without a dot before it. */
function toPatterns(entry: string): HostPattern[] {
  const name = entry.replace(/^\*?\./, "");
  const isWhole = name === "*" || isIP(name) !== 0 || name.includes("/");
  // Not ours to refuse: other programs read this variable too, each in its own way.
  return attempt(() => (isWhole ? [name] : [name, `*.${name}`]).map(parseHostPattern)) ?? [];
}

const isThisMachine = (host: string): boolean =>
  isIP(host) ? classOf(host) === "loopback" : /(^|\.)localhost$/.test(nameOf(host));
