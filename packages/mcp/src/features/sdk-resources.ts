import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
} from "@modelcontextprotocol/server";
import type { Subscriptions } from "../listening/subscriptions.ts";
import type { Service } from "../service.ts";
import type { Era } from "./capabilities.ts";
import { answerOrAsk } from "./sdk-asking.ts";
import { toProtocolError } from "./sdk-errors.ts";
import type { ResourceSource } from "./sources.ts";

/** Returns what stops telling about changes. */
export function serveResources(
  server: Server,
  service: Service,
  source: ResourceSource,
  era: Era,
): () => void {
  const { caller } = service;
  let stopTelling: (() => void) | undefined;
  const tellChange = () => {
    server.sendResourceListChanged().catch((cause) => service.log(`list_changed not sent: ${cause}`));
  };
  server.setRequestHandler("resources/list", async (request, context) => {
    // Who never asked for the list has none that could be old. The modern revision has its own way.
    if (era === "legacy") stopTelling ??= source.onListChange?.(tellChange, { caller });
    const ctx = { caller, signal: context.mcpReq.signal };
    const subject = { server, service, era, context, subject: "resources/list", args: {} };
    // Only three methods may ask; this one is not among them.
    const page = await answerOrAsk(subject, ({ exchange }) =>
      source.list(request.params?.cursor, { ...ctx, exchange }).catch(toProtocolError),
    );
    // Its types ask for mutable copies of what it only serialises.
    return { ...page } as never;
  });
  server.setRequestHandler("resources/templates/list", (request) => {
    if (request.params?.cursor !== undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid cursor: the list has one page");
    return { resourceTemplates: source.templates as never };
  });
  server.setRequestHandler("resources/read", (request, context) => {
    const { uri } = request.params;
    const subject = { server, service, era, context, subject: `resources/read ${uri}`, args: {} };
    return answerOrAsk(subject, async (ways) => {
      const contents = await source
        .read(uri, { caller, signal: context.mcpReq.signal, ...ways })
        .catch(toProtocolError);
      if (!contents) throw new ResourceNotFoundError(uri);
      return { contents: contents as never };
    });
  });
  return () => stopTelling?.();
}

export function serveSubscriptions(server: Server, subscriptions: Subscriptions): void {
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    if (!(await subscriptions.add(uri).catch(toProtocolError))) throw new ResourceNotFoundError(uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    subscriptions.remove(uri);
    return {};
  });
}
