import type { Outlet } from "../direct-calls.ts";
import {
  errorLine,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  type Message,
  type Plain,
  type RequestId,
} from "../messages.ts";
import type { Service } from "../service.ts";
import { parseFilter } from "./filter.ts";
import { type Listening, startListening } from "./listening.ts";
import { createAllowance, MAX_SUBSCRIPTIONS, tooMany } from "./subscriptions.ts";

/** The `subscriptions/listen` of one connection, each under the id of its request. */
export interface Listens {
  start(id: RequestId, message: Message): void;
  cancel(params: Plain | undefined): void;
  close(): void;
}

/** One costs little; nobody needs so many. */
const MAX_LISTENS = 1_024;

export function createListens(service: Service, outlet: Outlet): Listens {
  const open = new Map<RequestId, Listening>();
  const allowance = createAllowance();
  return {
    start(id, message) {
      if (open.size >= MAX_LISTENS)
        return outlet.write(errorLine(id, INTERNAL_ERROR, "Subscription limit reached"), id);
      const filter = parseFilter(message);
      if (!filter) return outlet.write(refuseFilter(id), id);
      const wanted = filter.resourceSubscriptions?.length ?? 0;
      if (wanted > allowance.left)
        return outlet.write(refuseMany(id, MAX_SUBSCRIPTIONS - allowance.left + wanted), id);
      open.get(id)?.stop();
      open.set(id, startListening(service, { id, filter }, outlet, allowance));
    },
    cancel(params) {
      // An id that is none is nobody's.
      const id = params?.["requestId"] as RequestId;
      open.get(id)?.stop();
      open.delete(id);
    },
    close() {
      for (const listening of open.values()) listening.end();
      open.clear();
    },
  };
}

export const refuseFilter = (id: RequestId): string =>
  errorLine(
    id,
    INVALID_PARAMS,
    "Invalid params: 'notifications' is required and must be a valid SubscriptionFilter",
  );

export function refuseMany(id: RequestId, actual: number): string {
  const { code, message, details } = tooMany(actual);
  return errorLine(id, INVALID_PARAMS, message, { code, details });
}
