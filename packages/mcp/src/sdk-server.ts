import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { toCallToolResult } from "./answer.ts";
import { CAPABILITIES, LIST_CACHE, type Service } from "./service.ts";
import { type RunTool, unknownTool } from "./tool-runner.ts";

/**
 * The service on the SDK's own server. It answers what the direct path leaves alone, and it is the measure of
 * that path: for every request both must write the same line.
 */
export function createSdkServer(service: Service, runTool: RunTool, era: "legacy" | "modern"): Server {
  const server = new Server(service.serverInfo, {
    capabilities: CAPABILITIES,
    instructions: service.instructions,
    cacheHints: { "tools/list": LIST_CACHE, "server/discover": LIST_CACHE },
  });
  server.setRequestHandler("tools/list", (request) => {
    if (request.params?.cursor !== undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid cursor: the tool list has one page");
    }
    // The SDK's types ask for mutable copies of what it only serialises.
    return { tools: service.listing().tools as never };
  });
  server.setRequestHandler("tools/call", async (request, { mcpReq }) => {
    const { name, arguments: args = {} } = request.params;
    const reply = runTool(
      { name, args, meta: mcpReq._meta },
      {
        signal: mcpReq.signal,
        // It rejects once the request is cancelled; nobody waits for progress then.
        notify: (params) => {
          mcpReq.notify({ method: "notifications/progress", params: { ...params } }).catch(() => {});
        },
      },
    );
    if (!reply) throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(name, service));
    try {
      return { ...toCallToolResult(await reply) };
    } catch (cause) {
      service.log(`tools/call ${name} failed outside the dispatcher: ${cause}`);
      throw new ProtocolError(ProtocolErrorCode.InternalError, "Internal error");
    }
  });
  tellListChanges(server, service, era);
  return server;
}

/** A modern client gets what it subscribed to; a legacy one must have finished its handshake here. */
function tellListChanges(server: Server, service: Service, era: "legacy" | "modern"): void {
  let ready = era === "modern";
  server.oninitialized = () => {
    ready = true;
  };
  server.onclose = service.onListChanged(() => {
    if (ready) server.sendToolListChanged().catch((cause) => service.log(`list_changed not sent: ${cause}`));
  });
}
