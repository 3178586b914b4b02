import { createClientRequests } from "./asking/client-requests.ts";
import type { LogLevel } from "./asking/exchange.ts";
import type { Outlet } from "./connection.ts";
import { createSubscriptions, type Quota } from "./listening/subscriptions.ts";
import { type Plain, toNotification } from "./messages.ts";
import type { Service } from "./service.ts";

/** The state of a client of the handshake revisions. */
export type LegacySession = ReturnType<typeof createLegacySession>;

export function createLegacySession(service: Service, outlet: Outlet, quota: Quota) {
  const reportList = (kind: string) => () => {
    if (session.isInitialized) outlet.write(toNotification(`notifications/${kind}/list_changed`));
  };
  const subscriptions = createSubscriptions({
    service,
    quota,
    report: (uri) => outlet.write(toNotification("notifications/resources/updated", { uri })),
    canReport: () => !outlet.isFull() && outlet.hasListener !== false,
  });
  const requests = createClientRequests(outlet.write);
  const stopTools = service.listing.onChange(reportList("tools"));
  const stopPrompts = service.prompts?.onChange?.(reportList("prompts"));
  let stopResources: (() => void) | undefined;
  const session = {
    /** The parameters of `initialize`. */
    handshake: undefined as Plain | undefined,
    /** Changes of lists are reported once the client has finished its handshake. */
    isInitialized: false,
    logLevel: undefined as LogLevel | undefined,
    requests,
    subscriptions,
    /** Starts reporting changes of the resource list. */
    watchResources(): void {
      stopResources ??= service.resources?.onListChange?.(reportList("resources"), service);
    },
    close(): void {
      subscriptions.close();
      requests.close();
      stopTools();
      stopPrompts?.();
      stopResources?.();
    },
  };
  return session;
}
