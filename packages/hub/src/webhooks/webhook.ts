import { handle, newHandle, ToolError } from "@octant/core";
import { z } from "zod";
import { LIFECYCLE_TYPES, type LifecycleEvent } from "../lifecycle/lifecycle-events.ts";
import { ProjectId } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";

export const WebhookId = handle("webhook");
export const newWebhookId = () => newHandle("webhook", Date.now());

const MAX_URL_CHARS = 2_048;
const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;

/** The settings of a webhook that a person chooses. */
export const WebhookSettings = z.strictObject({
  url: z.string().min(1).max(MAX_URL_CHARS).describe("Receives a POST request for each event"),
  project_id: ProjectId.optional().describe("Events of all projects when absent"),
  events: z
    .array(z.enum(LIFECYCLE_TYPES))
    .min(1)
    .max(LIFECYCLE_TYPES.length)
    .optional()
    .describe("All events when absent"),
});
export type WebhookSettings = z.output<typeof WebhookSettings>;

/** A webhook as it is stored. */
export interface Webhook extends WebhookSettings {
  readonly id: string;
  /** Signs the requests; shown once, when the webhook is created. */
  readonly secret: string;
  /** Its project was deleted: it is removed after its last delivery. */
  readonly isEnding?: boolean | undefined;
  readonly created_at: string;
}

export const WebhookView = WebhookSettings.extend({ webhook_id: WebhookId, created_at: z.string() });

export const toWebhookView = (webhook: Webhook): z.output<typeof WebhookView> => {
  const { id, secret: _secret, isEnding: _ending, ...rest } = webhook;
  return { ...rest, webhook_id: id };
};

/** One event for one webhook. Its bytes are stored, so every attempt sends the same. */
export interface Delivery {
  readonly id: string;
  readonly webhook_id: string;
  /** The same for every attempt and every webhook, also after a restart. */
  readonly event_id: string;
  readonly type: LifecycleEvent["type"];
  readonly body: string;
  readonly state: (typeof DELIVERY_STATES)[number];
  readonly attempts: number;
  /** When the next attempt is due; absent when there is none. */
  readonly next_at?: string | undefined;
  /** The HTTP status of the last attempt that was answered. */
  readonly status?: number | undefined;
  /** Why the last attempt failed. */
  readonly reason?: string | undefined;
  readonly ended_at?: string | undefined;
  readonly created_at: string;
}

export const DeliveryView = z.object({
  event_id: z.string(),
  type: z.enum(LIFECYCLE_TYPES),
  state: z.enum(DELIVERY_STATES),
  attempts: z.int(),
  next_at: z.string().optional(),
  status: z.int().optional().describe("HTTP status of the last answer"),
  reason: z.string().optional().describe("Why the last attempt failed"),
  created_at: z.string(),
  ended_at: z.string().optional(),
});

export const toDeliveryView = (delivery: Delivery): z.output<typeof DeliveryView> => {
  const { id: _id, webhook_id: _webhook, body: _body, ...rest } = delivery;
  return rest;
};

export async function findWebhook(store: HubStore, id: string): Promise<Webhook> {
  const found = await store.records<Webhook>("webhook").get(id);
  if (found) return found;
  throw new ToolError("NOT_FOUND", `there is no webhook '${id}'; webhook.list shows them`, { id });
}
