import { newHandle, type Published } from "@octant/core";
import { forgetKept } from "../lifecycle/kept-events.ts";
import type { LifecycleEvent } from "../lifecycle/lifecycle-events.ts";
import type { HubStore } from "../store/hub-store.ts";
import type { Delivery, Webhook } from "./webhook.ts";

/** Deliveries of one webhook that may wait; later events fail at once. */
const MAX_PENDING = 1_000;
/** Older ones are forgotten. */
const MAX_HISTORY = 200;

export type Deliveries = ReturnType<typeof createDeliveries>;

/** The stored deliveries of webhooks. */
export function createDeliveries(store: HubStore) {
  const webhooks = store.records<Webhook>("webhook");
  const records = store.records<Delivery>("webhook_delivery");
  /** Newest first. */
  const list = (webhook_id: string): Promise<readonly Delivery[]> =>
    records.list({ id_prefix: `${webhook_id}.` });

  const prune = async (newestFirst: readonly Delivery[]): Promise<void> => {
    const ended = newestFirst.filter(({ state }) => state !== "pending");
    for (const { id } of ended.slice(MAX_HISTORY)) await records.remove(id);
  };

  return {
    list,
    /** The webhook's deliveries that still have attempts, oldest first. */
    pending: async (webhook_id: string): Promise<readonly Delivery[]> =>
      (await list(webhook_id)).filter(({ state }) => state === "pending").toReversed(),
    get: records.get,
    change: records.change,
    /** Stores an event for each webhook that wants it. */
    async add({ at, value: event }: Pick<Published<LifecycleEvent>, "at" | "value">): Promise<void> {
      const { type, kept, ...data } = event;
      const created_at = new Date(at).toISOString();
      const event_id = kept?.event_id ?? newHandle("event", at);
      const body = JSON.stringify({ type, timestamp: created_at, data });
      for (const { id: webhook_id } of (await webhooks.list()).filter((one) => wants(one, event))) {
        const earlier = await list(webhook_id);
        // A hub that was killed had stored it for this webhook.
        if (earlier.some((one) => one.event_id === event_id)) continue;
        const isFull = earlier.filter(({ state }) => state === "pending").length >= MAX_PENDING;
        await records.add({
          ...{ id: `${webhook_id}.${event_id}`, webhook_id, event_id, type, body, created_at, attempts: 0 },
          ...(isFull
            ? { state: "failed", reason: `${MAX_PENDING} deliveries wait already`, ended_at: created_at }
            : { state: "pending", next_at: created_at }),
        });
        await prune(earlier);
      }
      if (kept) await forgetKept(store, kept);
      if (type !== "project.deleted") return;
      for (const { id } of await webhooks.list({ project_id: event.project_id }))
        await webhooks.change(id, (stored) => ({ ...stored, isEnding: true }));
    },
    /** Forgets a webhook with its deliveries. */
    async remove(webhook_id: string): Promise<boolean> {
      const isRemoved = await webhooks.remove(webhook_id);
      for (const { id } of await list(webhook_id)) await records.remove(id);
      return isRemoved;
    },
  };
}

const wants = ({ project_id, events, isEnding }: Webhook, event: LifecycleEvent): boolean =>
  !isEnding &&
  (project_id === undefined || project_id === event.project_id) &&
  (events === undefined || events.includes(event.type));
