import type { McpServer, Server } from "@modelcontextprotocol/server";
import type { Era } from "./features/capabilities.ts";
import { ListedServer } from "./features/listed-server.ts";
import { serveCompletions } from "./features/sdk-completions.ts";
import { servePrompts } from "./features/sdk-prompts.ts";
import { serveResources, serveSubscriptions } from "./features/sdk-resources.ts";
import { serveTasks } from "./features/sdk-tasks.ts";
import { serveTools } from "./features/sdk-tools.ts";
import type { Subscriptions } from "./listening/subscriptions.ts";
import { LIST_CACHE, OWN_CACHE, type Service } from "./service.ts";
import type { RunTool } from "./tool-runner.ts";

/**
 * The service on the SDK's own server. It answers what the direct path leaves alone, and it is the measure of
 * that path: for every request both must write the same line.
 */
export function createSdkServer(
  service: Service,
  runTool: RunTool,
  era: Era,
  subscriptions?: Subscriptions,
): McpServer {
  const { resources, prompts, completions, tasks, instructions } = service;
  const info = era === "modern" ? service.serverInfo : service.fullServerInfo;
  // The SDK's types ask for mutable copies of what it only serialises.
  const listed = new ListedServer(service.listing, info as never, {
    ...(instructions !== undefined && { instructions }),
    cacheHints: CACHE_HINTS,
  });
  const { server } = listed;
  // Not before: it would answer for them itself, and say more than is so.
  server.registerCapabilities(service.capabilities[era]);
  serveTools(server, service, runTool, era);
  const stops = [
    tellListChanges(server, service, era),
    ...(prompts ? [servePrompts(server, service, prompts, era)] : []),
    ...(resources ? [serveResources(server, service, resources, era)] : []),
  ];
  // The modern revision has its own way.
  if (resources?.subscribe && subscriptions && era === "legacy") serveSubscriptions(server, subscriptions);
  if (completions) serveCompletions(server, service, completions, era);
  if (tasks) serveTasks(server, service, tasks, era);
  server.onclose = () => {
    for (const stop of stops) stop();
  };
  return listed;
}

const CACHE_HINTS = {
  "server/discover": LIST_CACHE,
  "tools/list": LIST_CACHE,
  "prompts/list": LIST_CACHE,
  "resources/templates/list": LIST_CACHE,
  "resources/list": OWN_CACHE,
  "resources/read": OWN_CACHE,
};

/** A modern client gets what it subscribed to; a legacy one must have finished its handshake here. */
function tellListChanges(server: Server, service: Service, era: Era): () => void {
  let ready = era === "modern";
  server.oninitialized = () => {
    ready = true;
  };
  return service.onListChanged(() => {
    if (ready) server.sendToolListChanged().catch((cause) => service.log(`list_changed not sent: ${cause}`));
  });
}
