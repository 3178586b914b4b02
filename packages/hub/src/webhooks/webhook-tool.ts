import { action, defineTool, invalidArgument, pagingInput, ToolError } from "@octant/core";
import type { Network } from "@octant/host";
import { z } from "zod";
import { findProject, ProjectId } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import { pageOf } from "../store/page-of.ts";
import { newSecret } from "./sign.ts";
import {
  DeliveryView,
  findWebhook,
  newWebhookId,
  toDeliveryView,
  toWebhookView,
  type Webhook,
  WebhookId,
  WebhookSettings,
  WebhookView,
} from "./webhook.ts";
import type { Webhooks } from "./webhooks.ts";

export interface WebhookToolOptions {
  readonly store: HubStore;
  readonly webhooks: Webhooks;
  readonly network: Pick<Network, "checkResolved">;
  now(): number;
}

const ADMIN = { access: "admin", target: "global", timing: "sync", intent: "apply" } as const;
const One = z.strictObject({ webhook_id: WebhookId });
const EXAMPLE_ID = "webhook_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";
const MAX_WEBHOOKS = 100;
const DEFAULT_DELIVERIES = 20;
const MAX_DELIVERIES = 200;

/** Webhooks make the hub send requests, so only its admins decide about them. */
export const webhookTool = ({ store, webhooks, network, now }: WebhookToolOptions) => {
  const records = store.records<Webhook>("webhook");
  return defineTool({
    name: "webhook",
    summary: "Send signed requests to other services when sessions, schedules or projects begin or end.",
    actions: {
      create: action({
        summary: "Send the events of one project, or of all, to a URL; the signing secret is shown once.",
        ...ADMIN,
        openWorld: true,
        input: WebhookSettings,
        output: WebhookView.extend({ secret: z.string().describe("Shown only now; store it") }),
        errors: ["NOT_FOUND", "NET_BLOCKED", "LIMIT_EXCEEDED"],
        examples: [
          {
            title: "When sessions stop, in all projects",
            input: { url: "https://ci.example.com/octant", events: ["session.idle", "session.failed"] },
          },
        ],
        async run({ url, ...settings }, { signal }) {
          const { href } = await network.checkResolved(url, { isRemote: false, signal });
          if (URL.parse(url)?.username || URL.parse(url)?.password)
            throw invalidArgument("url", "the URL must not have a user or a password");
          if (settings.project_id !== undefined) await findProject(store, settings.project_id);
          if ((await records.list({ limit: MAX_WEBHOOKS })).length === MAX_WEBHOOKS)
            throw new ToolError("LIMIT_EXCEEDED", `a hub has at most ${MAX_WEBHOOKS} webhooks; delete one`, {
              limit: MAX_WEBHOOKS,
              what: "webhooks",
            });
          const secret = newSecret();
          const created_at = new Date(now()).toISOString();
          const webhook: Webhook = { ...settings, url: href, id: newWebhookId(), secret, created_at };
          await records.add(webhook);
          return { ...toWebhookView(webhook), secret };
        },
      }),
      list: action({
        summary: "The webhooks, newest first, without their secrets.",
        ...ADMIN,
        intent: "inspect",
        input: z.strictObject({ project_id: ProjectId.optional().describe("Only those of this project") }),
        output: z.object({ webhooks: z.array(WebhookView).readonly() }),
        examples: [{ title: "All", input: {} }],
        run: async ({ project_id }) => ({
          webhooks: (await records.list({ project_id })).map(toWebhookView),
        }),
      }),
      delete: action({
        summary: "Delete a webhook; deliveries that wait are dropped.",
        ...ADMIN,
        destructive: true,
        input: One,
        output: z.object({ deleted: z.boolean() }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "By id", input: { webhook_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        async run({ webhook_id }) {
          await findWebhook(store, webhook_id);
          return { deleted: await webhooks.remove(webhook_id) };
        },
      }),
      history: action({
        summary: "The deliveries of a webhook, newest first, with their attempts and what failed.",
        ...ADMIN,
        intent: "inspect",
        input: One.extend(pagingInput(DEFAULT_DELIVERIES, MAX_DELIVERIES)),
        output: z.object({ deliveries: z.array(DeliveryView).readonly(), total: z.int() }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "By id", input: { webhook_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        async run({ webhook_id, limit }, ctx) {
          await findWebhook(store, webhook_id);
          const all = await webhooks.history(webhook_id);
          return { deliveries: pageOf(all, limit, ctx).map(toDeliveryView), total: all.length };
        },
      }),
    },
  });
};
