import { setTimeout as delay } from "node:timers/promises";
import type { McpServers } from "@octant/mcp-client";

/** A slower server joins while the run is in progress. */
const MAX_SERVERS_MS = 5_000;
/** A person does not wonder about a shorter wait. */
const SLOW_MS = 1_000;

/** Waits for the MCP servers, whose tools the first message of a run may need. A chat does not wait for them. */
export async function awaitServers(
  servers: Pick<McpServers, "settled" | "status">,
  log: (line: string) => void = () => {},
  maxMs = MAX_SERVERS_MS,
): Promise<void> {
  const settled = servers.settled();
  const within = (ms: number) => Promise.race([settled, delay(ms, undefined, { ref: false })]);
  const connecting = () =>
    servers.status().flatMap(({ server, state }) => (state === "connecting" ? [server] : []));
  await within(Math.min(SLOW_MS, maxMs));
  if (connecting().length > 0) log(`waiting for MCP servers: ${connecting().join(", ")}`);
  await within(maxMs - SLOW_MS);
  for (const server of connecting())
    log(`MCP server ${server} has not answered within ${maxMs / 1_000} s; the run starts without its tools`);
}
