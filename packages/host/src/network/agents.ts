import { type AgentOptions, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { PinnedLookup } from "./resolve-and-check.ts";
import type { Target } from "./target.ts";

/** Below the five seconds after which many servers hang up: a request must not meet a connection that is about to end. */
const IDLE_MS = 4_000;
const MAX_SOCKETS = 256;
const MAX_FREE_SOCKETS = 16;

const OPTIONS: AgentOptions = {
  keepAlive: true,
  timeout: IDLE_MS,
  maxTotalSockets: MAX_SOCKETS,
  maxFreeSockets: MAX_FREE_SOCKETS,
};

export type Agents = ReturnType<typeof createAgents>;

/** Connections that are used again. */
export function createAgents(ca: readonly string[] | undefined) {
  const agents = new Map<string, HttpAgent>();

  const make = (isTls: boolean, proxy: string | undefined): HttpAgent => {
    const proxyEnv = proxy === undefined ? undefined : { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
    const given: AgentOptions = { ...OPTIONS, ...(proxyEnv && { proxyEnv }) };
    return keyedByPin(
      isTls ? new HttpsAgent({ ...given, ...(ca && { ca: [...ca] }) }) : new HttpAgent(given),
    );
  };

  return {
    /** For a direct connection, or one through a proxy. */
    for({ url: { protocol } }: Target, proxy: string | undefined): HttpAgent {
      const key = `${protocol} ${proxy ?? ""}`;
      const agent = agents.get(key) ?? make(protocol === "https:", proxy);
      agents.set(key, agent);
      return agent;
    },
    close(): void {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
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
