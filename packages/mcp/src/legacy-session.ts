import { type ClientRequests, createClientRequests } from "./asking/client-requests.ts";
import type { LogLevel } from "./asking/exchange.ts";
import type { Outlet } from "./connection.ts";
import { createSubscriptions, type Quota, type Subscriptions } from "./listening/subscriptions.ts";
import { type Plain, toNotification } from "./messages.ts";
import type { Service } from "./service.ts";

/** The state of a client of the handshake revisions. */
export interface LegacySession {
  /** The parameters of `initialize`. */
  handshake: Plain | undefined;
  /** Changes of lists are reported once the client has finished its handshake. */
  isInitialized: boolean;
  logLevel: LogLevel | undefined;
  readonly requests: ClientRequests;
  readonly subscriptions: Subscriptions;
  /** Starts reporting changes of the resource list. */
  watchResources(): void;
  close(): void;
}

export function createLegacySession(service: Service, outlet: Outlet, quota: Quota): LegacySession {
  const reportList = (kind: string) => () => {
    if (session.isInitialized) outlet.write(toNotification(`notifications/${kind}/list_changed`));
  };
  const subscriptions = createSubscriptions({
    ...{ service, quota },
    report: (uri) => outlet.write(toNotification("notifications/resources/updated", { uri })),
    canReport: () => !outlet.isFull() && outlet.hasListener !== false,
  });
  const requests = createClientRequests(outlet.write);
  const stopTools = service.listing.onChange(reportList("tools"));
  const stopPrompts = service.prompts?.onChange?.(reportList("prompts"));
  let stopResources: (() => void) | undefined;
  const session: LegacySession = {
    handshake: undefined,
    isInitialized: false,
    logLevel: undefined,
    requests,
    subscriptions,
    watchResources() {
      stopResources ??= service.resources?.onListChange?.(reportList("resources"), service);
    },
    close() {
      subscriptions.close();
      requests.close();
      stopTools();
      stopPrompts?.();
      stopResources?.();
    },
  };
  return session;
}
