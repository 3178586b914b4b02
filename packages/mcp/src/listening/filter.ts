import { isPlain, type Message, type Plain } from "../messages.ts";

/** What a modern client wants to be told of. Members are in the order in which they are acknowledged. */
export interface Filter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  readonly resourceSubscriptions?: readonly string[];
}

export const LISTEN_METHOD = "subscriptions/listen";

/** Undefined when it is none. */
export function parseFilter({ params }: Message): Filter | undefined {
  const filter = params?.["notifications"];
  if (!isPlain(filter)) return undefined;
  const { resourceSubscriptions: uris } = filter;
  const isSound =
    FLAGS.every((name) => isOptionalBoolean(filter[name])) &&
    (uris === undefined || (Array.isArray(uris) && uris.every((uri) => typeof uri === "string")));
  // Every member was looked at.
  return isSound ? (filter as Filter) : undefined;
}

const FLAGS = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"] as const;

const isOptionalBoolean = (value: Plain[string]) => value === undefined || typeof value === "boolean";
