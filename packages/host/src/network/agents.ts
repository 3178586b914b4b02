import { type AgentOptions, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Target } from "./target.ts";

/** Connections that are used again. */
export interface Agents {
  /** For a direct connection, or one through a proxy. */
  for(target: Target, proxy: string | undefined): HttpAgent;
  close(): void;
}

/** Below the five seconds after which many servers hang up: a request must not meet a connection that is about to end. */
const IDLE_MS = 4_000;
const MAX_SOCKETS = 256;
const MAX_FREE_SOCKETS = 16;

export function createAgents(ca: readonly string[] | undefined): Agents {
  const agents = new Map<string, HttpAgent>();
  const options = {
    keepAlive: true,
    timeout: IDLE_MS,
    maxTotalSockets: MAX_SOCKETS,
    maxFreeSockets: MAX_FREE_SOCKETS,
  };

  const make = (isTls: boolean, proxy: string | undefined): HttpAgent => {
    const proxyEnv = proxy === undefined ? undefined : { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
    const given: AgentOptions = { ...options, ...(proxyEnv && { proxyEnv }) };
    return keyedByPin(
      isTls ? new HttpsAgent({ ...given, ...(ca && { ca: [...ca] }) }) : new HttpAgent(given),
    );
  };

  return {
    for({ url: { protocol } }, proxy) {
      const key = `${protocol} ${proxy ?? ""}`;
      const known = agents.get(key);
      if (known) return known;
      const agent = make(protocol === "https:", proxy);
      agents.set(key, agent);
      return agent;
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

/** A lookup that knows the answer: the addresses that were checked, and no others. */
export interface PinnedLookup extends LookupFunction {
  readonly pinned: string;
}

export function pin(addresses: readonly string[]): PinnedLookup {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  const first = entries[0]!;
  const lookup: LookupFunction = (_host, { all }, callback) =>
    all ? callback(null, entries) : callback(null, first.address, first.family);
  return Object.assign(lookup, { pinned: addresses.join() });
}

/**
 * A free connection is only used for a request that may go to the same addresses: otherwise one that was opened under
 * a looser check would serve a name that means something else by now.
 */
function keyedByPin<A extends HttpAgent>(agent: A): A {
  const nameOf = agent.getName.bind(agent);
  // It is called with all options of the request; the types name four of them.
  agent.getName = (options) =>
    `${nameOf(options)}:${(options as { lookup?: PinnedLookup } | undefined)?.lookup?.pinned ?? ""}`;
  return agent;
}
