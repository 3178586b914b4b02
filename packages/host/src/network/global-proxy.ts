import { isIPv4 } from "node:net";
import { readProxies } from "./proxy.ts";

const NOTHING = () => {};
/** A proxy cannot reach this machine under these names. */
const THIS_MACHINE = ["localhost", ".localhost", "127.0.0.1", "::1"];

/**
 * From now on model providers, sign-ins and MCP servers are reached through the proxies of the person's environment.
 * The tools have their own connections, with the same proxies and their own rules. Returns the way back.
 */
export async function useProxies(env: NodeJS.ProcessEnv): Promise<() => void> {
  // An unusable proxy is reported by the workspace.
  const proxies = readProxies(env, NOTHING);
  if (!proxies) return NOTHING;
  const { setGlobalProxyFromEnv } = await import("node:http");
  return setGlobalProxyFromEnv({
    ...(proxies.http !== undefined && { HTTP_PROXY: proxies.http }),
    ...(proxies.https !== undefined && { HTTPS_PROXY: proxies.https }),
    NO_PROXY: [...THIS_MACHINE, ...proxies.direct.flatMap(toNodeForm)].join(","),
  });
}

/** Node takes a name literally, and ranges of addresses instead of prefixes. */
function toNodeForm(entry: string): string[] {
  const [, start = "", bits = ""] = /^([\d.]+)\/(\d+)$/.exec(entry) ?? [];
  if (isIPv4(start) && Number(bits) <= IPV4_BITS) return [toRange(start, Number(bits))];
  return /^[*.]|^[\d.:[\]]+$/.test(entry) ? [entry] : [entry, `.${entry}`];
}

const IPV4_BITS = 32;

function toRange(start: string, bits: number): string {
  const address = start.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (IPV4_BITS - bits);
  const first = Math.floor(address / size) * size;
  return `${toAddress(first)}-${toAddress(first + size - 1)}`;
}

const toAddress = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
