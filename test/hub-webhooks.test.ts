import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { type KeepsEvents, keepEvent } from "../packages/hub/src/lifecycle/kept-events.ts";
import { createLifecycle } from "../packages/hub/src/lifecycle/lifecycle-events.ts";
import { newSecret } from "../packages/hub/src/webhooks/sign.ts";
import { newWebhookId, type Webhook } from "../packages/hub/src/webhooks/webhook.ts";
import { createWebhookNetwork } from "../packages/hub/src/webhooks/webhook-network.ts";
import { createWebhooks, RETRY_MS } from "../packages/hub/src/webhooks/webhooks.ts";
import { openHub } from "../packages/hub/testing/open-hub.ts";
import { openReceiver } from "../packages/hub/testing/webhook-receiver.ts";
import { createManualClock } from "../packages/terminal/src/testing/clock.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { startHub } from "./start-hub.ts";

interface Created {
  readonly webhook_id: string;
  readonly secret: string;
}
interface History {
  readonly total: number;
  readonly deliveries: readonly {
    readonly state: string;
    readonly attempts: number;
    readonly status?: number;
    readonly reason?: string;
  }[];
}

async function openHooks({ isAllowed = true } = {}) {
  const receiver = await openReceiver();
  const clock = createManualClock(Date.parse("2026-11-18T00:00:00Z"));
  const opened = await openHub({ clock, ...(isAllowed && { netAllow: [receiver.host] }) });
  const hook = (settings: object = {}) =>
    opened.get<Created>("webhook.create", { url: receiver.url, ...settings });
  const history = (webhook_id: string) => opened.get<History>("webhook.history", { webhook_id });
  /** When the newest delivery has this many attempts. */
  const tried = (webhook_id: string, attempts: number) =>
    vi.waitFor(async () => {
      const [newest] = (await history(webhook_id)).deliveries;
      expect(newest?.attempts).toBe(attempts);
      return newest;
    }, WAIT);
  const create = async (name: string) =>
    (await opened.get<{ project_id: string }>("project.create", { name })).project_id;
  return { ...opened, receiver, clock, hook, history, tried, create };
}
const WAIT = { timeout: 20_000, interval: 10 };

test("an event arrives once, signed, and the secret is never shown again", async () => {
  const { receiver, hook, create, tried, get, log, history, clock } = await openHooks();
  const { webhook_id, secret } = await hook();
  const project_id = await create("demo");
  const request = await receiver.next();
  expect(request.path).toBe("/hook?key=1");
  expect(request.event).toEqual({
    type: "project.created",
    timestamp: "2026-11-18T00:00:00.000Z",
    data: { project_id },
  });
  expect(request.timestamp).toBe(clock.now() / 1_000);
  expect(request.isSignedBy(secret)).toBe(true);
  expect(request.isSignedBy(`whsec_${Buffer.alloc(32).toString("base64")}`)).toBe(false);
  request.answer(204);
  expect(await tried(webhook_id, 1)).toMatchObject({ state: "delivered", status: 204 });
  await clock.pass(60_000);
  expect(receiver.all).toHaveLength(1);
  const shown = JSON.stringify([await get("webhook.list"), await history(webhook_id), log]);
  expect(shown).toContain(webhook_id);
  expect(shown).not.toContain(secret);
});

test("a webhook gets the chosen events of its project only, and ends with the project", async () => {
  const { receiver, hook, create, hub, get, call } = await openHooks();
  const [own, other] = [await create("own"), await create("other")];
  const { webhook_id } = await hook({ project_id: own, events: ["session.idle", "project.deleted"] });
  for (const project_id of [other, own])
    for (const type of ["session.working", "session.idle"] as const)
      hub.lifecycle.publish({ type, project_id, session_id: "ses_1", outcome: "done", cost: 0.5 });
  const first = await receiver.next();
  expect(first.event).toMatchObject({
    type: "session.idle",
    data: { project_id: own, session_id: "ses_1", outcome: "done", cost: 0.5 },
  });
  first.answer(200);
  await get("project.delete", { project_id: own });
  const last = await receiver.next();
  expect(last.event).toMatchObject({ type: "project.deleted", data: { project_id: own } });
  expect(last.id).not.toBe(first.id);
  last.answer(200);
  await vi.waitFor(
    async () => expect((await call("webhook.history", { webhook_id })).error?.code).toBe("NOT_FOUND"),
    WAIT,
  );
  expect(await hub.store.records("webhook_delivery").list()).toEqual([]);
});

test("a refused delivery is repeated with the same id and bytes after growing waits, and then ends", async () => {
  const { receiver, hook, create, tried, clock, log } = await openHooks();
  const { webhook_id, secret } = await hook();
  await create("demo");
  for (const [n, waitMs] of [...RETRY_MS, 0].entries()) {
    const request = await receiver.next();
    expect(request.isSignedBy(secret)).toBe(true);
    expect(request.timestamp).toBe(Math.floor(clock.now() / 1_000));
    request.answer(n % 2 ? 503 : 400);
    await tried(webhook_id, n + 1);
    if (waitMs === 0) break;
    await clock.pass(waitMs - 1);
    expect(receiver.all).toHaveLength(n + 1);
    await clock.pass(1);
  }
  expect(await tried(webhook_id, RETRY_MS.length + 1)).toMatchObject({ state: "failed", status: 503 });
  await clock.pass(60_000);
  expect(receiver.all).toHaveLength(RETRY_MS.length + 1);
  expect(new Set(receiver.all.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
  expect(log.join()).toContain(`webhook ${webhook_id} did not get project.created`);
});

test("a redirect is not followed", async () => {
  const { receiver, hook, create, tried } = await openHooks();
  const { webhook_id } = await hook();
  await create("demo");
  (await receiver.next()).answer(307, { location: `http://${receiver.host}/elsewhere` });
  expect(await tried(webhook_id, 1)).toMatchObject({ state: "pending", status: 307 });
  expect(receiver.all).toHaveLength(1);
});

test("a receiver that does not answer delays no other one", async () => {
  const { receiver, hook, create } = await openHooks();
  await hook();
  await hook({ url: receiver.url.replace("/hook", "/second") });
  await create("one");
  const [one, two] = [await receiver.next(), await receiver.next()];
  expect([one.path, two.path].toSorted()).toEqual(["/hook?key=1", "/second?key=1"]);
  expect(one.id).toBe(two.id);
  one.answer(200);
  await create("two");
  expect((await receiver.next()).path).toBe(one.path);
});

const REFUSED_URLS = {
  "http://127.0.0.1:8080/": "NET_BLOCKED",
  "http://2130706433/": "NET_BLOCKED",
  // Names are resolved, too.
  "http://localhost:8080/": "NET_BLOCKED",
  "http://[::1]/": "NET_BLOCKED",
  "http://[::ffff:10.0.0.1]/": "NET_BLOCKED",
  "https://10.0.0.1/": "NET_BLOCKED",
  "https://192.168.1.1/": "NET_BLOCKED",
  "http://169.254.169.254/latest/meta-data": "NET_BLOCKED",
  "http://metadata.google.internal/": "NET_BLOCKED",
  "http://[fe80::1]/": "NET_BLOCKED",
  "https://example.com:25/": "NET_BLOCKED",
  "https://ann:secret@example.com/": "INVALID_ARGUMENT",
  "ftp://example.com/": "INVALID_ARGUMENT",
  "file:///etc/passwd": "INVALID_ARGUMENT",
};

test("private, link-local and metadata addresses and unusual URLs are refused", async () => {
  // No setting opens a metadata address.
  const { call, get } = await openHub({ netAllow: ["169.254.169.254"] });
  const codes: Record<string, string | undefined> = {};
  for (const url of Object.keys(REFUSED_URLS))
    codes[url] = (await call("webhook.create", { url })).error?.code;
  expect(codes).toEqual(REFUSED_URLS);
  expect(await get("webhook.list")).toEqual({ webhooks: [] });
});

test("a name that becomes one of this machine is refused at delivery, and nothing is sent or tried again", async () => {
  const { receiver, hub, create, tried, clock } = await openHooks({ isAllowed: false });
  // At its creation the name had another address.
  const created_at = new Date(clock.now()).toISOString();
  const id = newWebhookId();
  const url = `http://localhost:${receiver.port}/`;
  await hub.store.records<Webhook>("webhook").add({ id, url, secret: newSecret(), created_at });
  await create("demo");
  expect(await tried(id, 1)).toMatchObject({
    state: "failed",
    reason: expect.stringContaining("is blocked"),
  });
  expect(receiver.all).toEqual([]);
});

test("a bad entry of the allowed hosts is refused before the hub opens", async () => {
  await expect(openHub({ netAllow: ["http://example.com/"] })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringContaining("is not a host"),
  });
});

test("an event that a killed hub had stored with its session is sent at the next start, once", async () => {
  const { receiver, hook, create, tried, hub, clock, log } = await openHooks();
  const project_id = await create("demo");
  const { webhook_id } = await hook();
  const event = { type: "session.idle", project_id, session_id: "ses_1", outcome: "done" } as const;
  const records = hub.store.records<KeepsEvents>("session");
  const created_at = new Date(clock.now()).toISOString();
  // The state is stored, and the hub is killed before anybody hears of it.
  await records.add(keepEvent({ id: "ses_1", project_id, created_at }, event, clock.now()));
  const event_id = (await records.get("ses_1"))?.kept_events?.[0]?.event_id;
  const start = async () => {
    const webhooks = createWebhooks({
      ...{ store: hub.store, lifecycle: createLifecycle(clock.now), clock, holder: "hub" },
      network: createWebhookNetwork({ env: {}, netAllow: [receiver.host], log: () => {} }),
      log: (line) => log.push(line),
    });
    await webhooks.recover(project_id);
    return webhooks;
  };
  const webhooks = await start();
  const request = await receiver.next();
  expect(request).toMatchObject({
    id: event_id,
    event: { type: "session.idle", data: { session_id: "ses_1" } },
  });
  request.answer(204);
  await tried(webhook_id, 1);
  await webhooks.stored();
  expect(await records.get("ses_1")).toEqual({ id: "ses_1", project_id, created_at });
  await webhooks.close();
  const again = await start();
  await again.stored();
  await again.close();
  expect(receiver.all).toHaveLength(1);
  expect(log).toEqual([]);
});

test("a hub that is killed during a delivery repeats it after its start, with the same id", async () => {
  using project = createFixtureProject();
  const receiver = await openReceiver();
  const start = () => startHub(project.env, project.root, ["--net-allow", receiver.host]);
  const killed = await start();
  const { webhook_id, secret } = await killed.call<Created>("webhook.create", { url: receiver.url });
  await killed.call("project.create", { name: "demo" });
  const first = await receiver.next();
  killed.child.kill("SIGKILL");
  await once(killed.child, "close");
  const hub = await start();
  const second = await receiver.next();
  expect([second.id, second.body]).toEqual([first.id, first.body]);
  expect(second.isSignedBy(secret)).toBe(true);
  second.answer(200);
  await vi.waitFor(
    async () =>
      expect(await hub.call("webhook.history", { webhook_id })).toMatchObject({
        deliveries: [{ event_id: first.id, state: "delivered", attempts: 1 }],
        total: 1,
      }),
    WAIT,
  );
  hub.child.kill("SIGTERM");
  expect(await once(hub.child, "close")).toEqual([0, null]);
  expect(receiver.all).toHaveLength(2);
});
