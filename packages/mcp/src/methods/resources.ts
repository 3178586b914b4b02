import type { McpRequest } from "../connection.ts";
import { invalidParams, type Plain, type ProtocolError, stringOf } from "../messages.ts";
import type { ResourceSource } from "../sources.ts";
import { cursorOf, refuseCursor, toProtocolError } from "./params.ts";
import { contextOf } from "./prompts.ts";

export async function listResources(request: McpRequest): Promise<Plain> {
  // A client that never requested the list cannot have a stale one. The modern revision uses subscriptions.
  request.session?.watchResources();
  const page = await sourceOf(request)
    .list(cursorOf(request.params), contextOf(request))
    .catch(toProtocolError);
  return { ...page };
}

export function listTemplates(request: McpRequest): Plain {
  refuseCursor(request.params);
  return { resourceTemplates: sourceOf(request).templates };
}

export async function readResource(request: McpRequest): Promise<Plain> {
  const uri = stringOf(request.params, "uri");
  const contents = await sourceOf(request).read(uri, contextOf(request)).catch(toProtocolError);
  if (!contents) throw notFound(uri);
  return { contents };
}

export async function subscribe({ params, session }: McpRequest): Promise<Plain> {
  const uri = stringOf(params, "uri");
  if (!(await session?.subscriptions.add(uri).catch(toProtocolError))) throw notFound(uri);
  return {};
}

export function unsubscribe({ params, session }: McpRequest): Plain {
  session?.subscriptions.remove(stringOf(params, "uri"));
  return {};
}

const notFound = (uri: string): ProtocolError => invalidParams(`Resource not found: ${uri}`, { uri });

/** These methods exist only where there are resources. */
const sourceOf = ({ service }: McpRequest): ResourceSource => service.resources as ResourceSource;
