import { type Clock, type Published, ToolError } from "@octant/core";
import type { Network } from "@octant/host";
import { leftEvents } from "../lifecycle/kept-events.ts";
import type { LifecycleEvent, LifecycleTopic } from "../lifecycle/lifecycle-events.ts";
import type { HubStore } from "../store/hub-store.ts";
import { createDeliveries } from "./deliveries.ts";
import { signedHeaders } from "./sign.ts";
import type { Delivery, Webhook } from "./webhook.ts";

export interface WebhooksOptions {
  readonly store: HubStore;
  readonly lifecycle: LifecycleTopic;
  readonly network: Pick<Network, "request">;
  readonly clock: Clock;
  /** Names this hub: of several that share a store, one at a time sends to a webhook. */
  readonly holder: string;
  log(line: string): void;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** The waits after failed attempts; the attempt after the last wait is the last one. */
export const RETRY_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  4 * HOUR_MS,
  12 * HOUR_MS,
] as const;
const ATTEMPT_MS = 10 * SECOND_MS;
/** Renewed before each attempt. */
const LEASE_MS = 3 * ATTEMPT_MS;
/** How long to wait while another hub sends to a webhook. */
const BUSY_MS = SECOND_MS;
/** How long the clock is not looked at, at most: it may be set, and machines sleep. */
const MAX_SLEEP_MS = MINUTE_MS;

/** The outcome of one request; without a reason the receiver accepted it. */
interface Attempt {
  readonly status?: number;
  readonly reason?: string;
  /** The hub may not send to this address. */
  readonly isBlocked?: boolean;
}

/**
 * Sends lifecycle events to webhooks. A delivery is stored before its first attempt and ends in the store, so a killed
 * hub repeats at most the attempt that it had not noted, with the same event id.
 */
export function createWebhooks(options: WebhooksOptions) {
  const { store, lifecycle, network, clock, holder, log } = options;
  const webhooks = store.records<Webhook>("webhook");
  const deliveries = createDeliveries(store);
  const closing = new AbortController();
  /** Each webhook sends one request at a time, and a slow one delays no other. */
  const busy = new Map<string, Promise<void>>();
  let sleeping = new AbortController();
  let storing: Promise<void> = Promise.resolve();

  /** A redirect is not followed: it could lead anywhere. */
  const attemptOnce = async ({ url, secret }: Webhook, delivery: Delivery): Promise<Attempt> => {
    try {
      const status = await network.request(
        {
          ...{ url, method: "POST", follow: false, isRemote: true, timeoutMs: ATTEMPT_MS },
          headers: signedHeaders(secret, delivery, clock.now()),
          body: Buffer.from(delivery.body),
          signal: closing.signal,
        },
        async (response) => response.status,
      );
      const isTaken = status >= 200 && status < 300;
      return isTaken ? { status } : { status, reason: `the receiver answered ${status}` };
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      return { reason: cause.message, isBlocked: cause.code === "NET_BLOCKED" };
    }
  };

  const deliver = async (webhook: Webhook, delivery: Delivery): Promise<void> => {
    const { status, reason, isBlocked } = await attemptOnce(webhook, delivery);
    const nowMs = clock.now();
    const attempts = delivery.attempts + 1;
    const waitMs = isBlocked ? undefined : RETRY_MS[delivery.attempts];
    const at = new Date(nowMs).toISOString();
    const tried = { attempts, status, reason, next_at: undefined };
    const isOver = reason === undefined || waitMs === undefined;
    await deliveries.change(delivery.id, (stored) => ({
      ...stored,
      ...tried,
      ...(isOver
        ? { state: reason === undefined ? "delivered" : "failed", ended_at: at }
        : { next_at: new Date(nowMs + waitMs).toISOString() }),
    }));
    if (isOver && reason !== undefined)
      log(`hub: webhook ${webhook.id} did not get ${delivery.type} (${delivery.event_id}): ${reason}`);
  };

  const lease = (webhook: Webhook) => store.leases.take(`webhook:${webhook.id}`, holder, LEASE_MS);
  const start = (webhook: Webhook, due: readonly Delivery[]): void => {
    const work = async () => {
      for (const delivery of due) {
        // It may have been deleted while the request before waited.
        if (closing.signal.aborted || !(await webhooks.get(webhook.id))) return;
        if (!(await lease(webhook))) return;
        // Another hub may have tried it before this one had the lease.
        const current = await deliveries.get(delivery.id);
        if (current?.state === "pending" && current.attempts === delivery.attempts)
          await deliver(webhook, current);
      }
      await store.leases.release(`webhook:${webhook.id}`, holder);
    };
    const working = work()
      .catch((cause: unknown) => {
        if (!closing.signal.aborted) log(`hub: webhook ${webhook.id} failed: ${cause}`);
      })
      .finally(() => {
        busy.delete(webhook.id);
        sleeping.abort();
      });
    busy.set(webhook.id, working);
  };

  /** Starts what is due; returns the time until the next attempt. */
  const tick = async (): Promise<number> => {
    const waits = [MAX_SLEEP_MS];
    for (const webhook of await webhooks.list()) {
      if (busy.has(webhook.id)) continue;
      const pending = await deliveries.pending(webhook.id);
      const waitOf = ({ next_at = "" }: Delivery) => Date.parse(next_at) - clock.now();
      const due = pending.filter((one) => waitOf(one) <= 0);
      if (due.length > 0 && (await lease(webhook))) start(webhook, due);
      else if (due.length > 0) waits.push(BUSY_MS);
      else if (pending.length > 0) waits.push(...pending.map(waitOf));
      else if (webhook.isEnding) await deliveries.remove(webhook.id);
    }
    return Math.min(...waits);
  };

  const loop = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      sleeping = new AbortController();
      const wake = AbortSignal.any([closing.signal, sleeping.signal]);
      const ms = await tick().catch((cause: unknown) => {
        log(`hub: the webhooks cannot be read: ${cause}`);
        return MAX_SLEEP_MS;
      });
      await clock.sleep(ms, wake);
    }
  };

  const keep = (event: Pick<Published<LifecycleEvent>, "at" | "value">) => {
    storing = storing
      .then(() => deliveries.add(event))
      .then(() => sleeping.abort())
      .catch((cause: unknown) => log(`hub: ${event.value.type} cannot be stored for webhooks: ${cause}`));
  };
  const stopListening = lifecycle.listen(keep);
  const looping = loop();

  return {
    /** Newest first. */
    history: deliveries.list,
    remove: deliveries.remove,
    /** Stores the events of a project that a killed hub had not passed on. */
    async recover(project_id: string): Promise<void> {
      for (const event of await leftEvents(store, project_id)) keep(event);
    },
    /** Resolves when all events so far are stored. */
    stored: (): Promise<void> => storing,
    /** Ends running attempts; they are repeated at the next start. */
    async close(): Promise<void> {
      stopListening();
      await storing;
      closing.abort();
      await looping;
      await Promise.all(busy.values());
    },
  };
}
