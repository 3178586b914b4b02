import { invalidParams, isPlain, type Plain } from "../messages.ts";

/** The changes that a modern client subscribes to. Members are in the order of the acknowledgement. */
export interface Filter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  readonly resourceSubscriptions?: readonly string[];
}

export const LISTEN_METHOD = "subscriptions/listen";

/** Throws a ProtocolError when the parameters have no valid filter. */
export function parseFilter({ notifications: filter }: Plain): Filter {
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
