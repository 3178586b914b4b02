import { ToolError } from "@octant/core";
import type { McpRequest } from "../connection.ts";
import {
  INTERNAL_ERROR,
  invalidParams,
  isPlain,
  type Plain,
  ProtocolError,
  toNotification,
} from "../messages.ts";
import { createSubscriptions, MAX_SUBSCRIPTIONS, tooMany } from "./subscriptions.ts";

/** The changes that a modern client subscribes to. Members are in the order of the acknowledgement. */
interface Filter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  readonly resourceSubscriptions?: readonly string[];
}

export const LISTEN_METHOD = "subscriptions/listen";

const SUBSCRIPTION_ID_KEY = "io.modelcontextprotocol/subscriptionId";

/**
 * `subscriptions/listen`: first acknowledges the part of the filter that this server supports and the caller may
 * read, then reports changes. It is answered when the connection ends.
 */
export function listen(request: McpRequest): Promise<Plain> {
  const { service, id, quota, signal, ending } = request;
  const filter = parseFilter(request.params);
  const uris = new Set(filter.resourceSubscriptions);
  if (quota.listens === 0) throw new ProtocolError(INTERNAL_ERROR, "Subscription limit reached");
  if (uris.size > quota.subscriptions) throw refuseMany(MAX_SUBSCRIPTIONS - quota.subscriptions + uris.size);
  quota.listens--;
  const _meta = { [SUBSCRIPTION_ID_KEY]: id };
  const { promise, resolve } = Promise.withResolvers<Plain>();
  const stops: (() => void)[] = [];
  let isOpen = false;

  const report = (method: string, params?: Plain) => {
    if (isOpen) request.write(toNotification(method, { ...params, _meta }));
  };
  const subscriptions = createSubscriptions({
    service,
    quota,
    report: (uri) => report("notifications/resources/updated", { uri }),
    canReport: () => isOpen && !request.isFull(),
  });
  const stop = () => {
    isOpen = false;
    if (stops.length === 0) return;
    quota.listens++;
    for (const one of stops.splice(0)) one();
  };
  const end = () => {
    stop();
    resolve({ _meta });
  };
  stops.push(subscriptions.close);
  signal.addEventListener("abort", stop, { once: true });
  ending.addEventListener("abort", end, { once: true });

  const subscribe = async (): Promise<readonly string[]> => {
    const added: string[] = [];
    for (const uri of uris) {
      const isAdded = await subscriptions.add(uri).catch((cause: unknown) => {
        if (!(cause instanceof ToolError) && stops.length > 0)
          service.log(`mcp: could not subscribe to ${uri}: ${cause}`);
        return false;
      });
      if (isAdded) added.push(uri);
    }
    return added;
  };
  const acknowledge = (supported: Filter): void => {
    if (stops.length === 0) return;
    isOpen = true;
    report("notifications/subscriptions/acknowledged", { notifications: supported });
    const { prompts, resources } = service;
    const reportList = (kind: string) => () => report(`notifications/${kind}/list_changed`);
    if (supported.toolsListChanged) stops.push(service.listing.onChange(reportList("tools")));
    if (supported.promptsListChanged) stops.push(prompts?.onChange?.(reportList("prompts")) ?? (() => {}));
    if (supported.resourcesListChanged)
      stops.push(resources?.onListChange?.(reportList("resources"), service) ?? (() => {}));
    // A stream without anything to report need not stay open.
    if (Object.keys(supported).length === 0 && request.endsIdleListens) end();
  };
  const { tools, prompts, resources } = service.capabilities.modern;
  const flags: Filter = {
    ...(filter.toolsListChanged && tools.listChanged && { toolsListChanged: true }),
    ...(filter.promptsListChanged && prompts?.listChanged && { promptsListChanged: true }),
    ...(filter.resourcesListChanged && resources?.listChanged && { resourcesListChanged: true }),
  };
  if (uris.size > 0 && resources?.subscribe)
    void subscribe().then((added) =>
      acknowledge({ ...flags, ...(added.length > 0 && { resourceSubscriptions: added }) }),
    );
  else acknowledge(flags);
  return promise;
}

function refuseMany(actual: number): ProtocolError {
  const { code, message, details } = tooMany(actual);
  return invalidParams(message, { code, details });
}

/** Throws a ProtocolError when the parameters have no valid filter. */
function parseFilter({ notifications: filter }: Plain): Filter {
  const uris = isPlain(filter) ? filter["resourceSubscriptions"] : undefined;
  const isSound =
    isPlain(filter) &&
    FLAGS.every((name) => filter[name] === undefined || typeof filter[name] === "boolean") &&
    (uris === undefined || (Array.isArray(uris) && uris.every((uri) => typeof uri === "string")));
  if (!isSound)
    throw invalidParams("Invalid params: 'notifications' is required and must be a valid SubscriptionFilter");
  // Every member was checked.
  return filter as Filter;
}

const FLAGS = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"] as const;
