import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
} from "@modelcontextprotocol/server";
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
  server.setRequestHandler("resources/list", async (request, context) => {
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
  return source.onChange ? tellChanges(server, service, source.onChange, era) : () => {};
}

/** The modern revision has its own way to subscribe, which picks what was asked for from all that we tell. */
function tellChanges(
  server: Server,
  service: Service,
  onChange: NonNullable<ResourceSource["onChange"]>,
  era: Era,
): () => void {
  const subscribed = new Set<string>();
  if (era === "legacy") {
    server.setRequestHandler("resources/subscribe", ({ params }) => {
      if (subscribed.size >= MAX_SUBSCRIPTIONS) {
        const message = `At most ${MAX_SUBSCRIPTIONS} resources can be subscribed to at a time`;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
      }
      subscribed.add(params.uri);
      return {};
    });
    server.setRequestHandler("resources/unsubscribe", ({ params }) => {
      subscribed.delete(params.uri);
      return {};
    });
  }
  return onChange((uri) => {
    if (uri !== undefined && era === "legacy" && !subscribed.has(uri)) return;
    const sent = uri === undefined ? server.sendResourceListChanged() : server.sendResourceUpdated({ uri });
    sent.catch((cause) => service.log(`a change of resources was not told: ${cause}`));
  });
}

const MAX_SUBSCRIPTIONS = 1_000;
