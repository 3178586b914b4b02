import { isIP } from "node:net";
import { ToolError } from "@octant/core";
import { parseHostPattern } from "../network/host-patterns.ts";
import { createHttpProxy, type HttpProxy } from "../network/http-proxy.ts";
import { blocked } from "../network/policy.ts";
import { checkDenied, type DeniesHost, type Resolve, systemResolve } from "../network/resolve-and-check.ts";
import type { Target } from "../network/target.ts";
import { findRule, mayConnect, parseHostRule, parseTarget } from "./host-rules.ts";

export interface ProxyOptions {
  readonly resolve?: Resolve;
  readonly denies?: DeniesHost | undefined;
  /** Hosts of `net.deny`. */
  readonly deny?: readonly string[];
  /** Where it listens; in a private folder when absent. */
  readonly socket?: string;
  /** Receives the message of each refusal. */
  onRefused?(message: string): void;
}

/** A proxy on a socket that resolves names itself and connects to the hosts that settings name, and to no other. */
export function createProxy(
  hosts: readonly string[],
  { resolve = systemResolve, denies, deny = [], socket, onRefused }: ProxyOptions = {},
): Promise<HttpProxy> {
  const rules = hosts.map(parseHostRule);
  const closed = deny.map(parseHostPattern);
  const addressesOf = async (target: Target): Promise<readonly string[]> => {
    const { shown, port } = target;
    const refuse = (why: string) => new ToolError("NET_BLOCKED", `${shown} ${why}`, { host: shown });
    const host = parseTarget(shown)?.host;
    const rule = host === undefined ? undefined : findRule(rules, { host, port });
    if (host === undefined || !rule) throw refuse("is not among the hosts that the sandbox allows");
    const addresses = isIP(host) ? [host] : await resolve(host);
    if (addresses.length === 0) throw refuse("has no address");
    if (closed.some((pattern) => pattern.matches(target, addresses)))
      throw blocked(target, "it is on the deny list");
    checkDenied(target, denies, [host, ...addresses]);
    if (addresses.every((one) => mayConnect(rule, one))) return addresses;
    throw refuse("leads to an address of this network, which is allowed only by its number");
  };
  return createHttpProxy({
    listen: socket === undefined ? "socket" : { socket },
    async routeTo(target) {
      try {
        return { proxy: undefined, addresses: await addressesOf(target) };
      } catch (cause) {
        if (cause instanceof ToolError) onRefused?.(cause.message);
        throw cause;
      }
    },
  });
}
