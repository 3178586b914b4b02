import { expect, test } from "vitest";
import { createDemo } from "../../testing/demo.ts";
import { modernRequest } from "../../testing/http.ts";
import { createConnection } from "../connection.ts";
import type { Outgoing } from "../messages.ts";
import { createService, type Service } from "../service.ts";
import { createQuota, createSubscriptions } from "./subscriptions.ts";

/** A server whose resources change when the test says so, and that can be delayed. */
function createSource() {
  const open = new Map<string, () => void>();
  let gate = Promise.resolve();
  const service: Service = createService({
    ...createDemo().options,
    resources: {
      list: async () => ({ resources: [] }),
      templates: [],
      read: async () => undefined,
      async subscribe(uri, onChange) {
        open.set(uri, onChange);
        await gate;
        return uri === "demo:absent" ? void open.delete(uri) : () => void open.delete(uri);
      },
    },
  });
  const change = (uri: string) => open.get(uri)?.();
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return resolve;
  };
  return { service, open, change, hold };
}

function subscribeOn(service: Service, canReport = () => true) {
  const reported: string[] = [];
  const quota = createQuota();
  let look = () => {};
  const subscriptions = createSubscriptions({
    service,
    quota,
    canReport,
    report(uri) {
      reported.push(uri);
      look();
    },
  });
  const until = (uri: string) =>
    new Promise<void>((resolve) => {
      look = () => reported.includes(uri) && resolve();
      look();
    });
  return { ...subscriptions, reported, until, quota };
}

test("while a client does not read, its changes are recorded, each resource once", async () => {
  const { service, change } = createSource();
  let isFull = true;
  const { add, reported, until, close } = subscribeOn(service, () => !isFull);
  for (const uri of ["demo:a", "demo:b", "demo:last"]) expect(await add(uri)).toBe(true);
  for (let count = 0; count < 1_000; count++) for (const uri of ["demo:a", "demo:b"]) change(uri);
  change("demo:last");
  expect(reported).toEqual([]);
  isFull = false;
  await until("demo:last");
  expect(reported).toEqual(["demo:a", "demo:b", "demo:last"]);
  close();
});

test("unsubscribing during a subscription closes it and frees its slot", async () => {
  const { service, open, hold } = createSource();
  const { add, remove, close, quota } = subscribeOn(service);
  const before = quota.subscriptions;
  const release = hold();
  const adding = [add("demo:a"), add("demo:b"), add("demo:absent")];
  remove("demo:a");
  close();
  release();
  await Promise.all(adding);
  expect(open.size).toBe(0);
  expect(quota.subscriptions).toBe(before);
  await expect(add("demo:c")).rejects.toBe("the connection closed");
});

test("subscribing twice is subscribing once", async () => {
  const { service, open } = createSource();
  const { add, remove, quota } = subscribeOn(service);
  const before = quota.subscriptions;
  expect(await Promise.all([add("demo:a"), add("demo:a")])).toEqual([true, true]);
  expect(quota.subscriptions).toBe(before - 1);
  remove("demo:a");
  await expect.poll(() => open.size).toBe(0);
});

test("a listening client gets no change before the acknowledgement", async () => {
  const { service, change, hold } = createSource();
  const messages: Outgoing[] = [];
  const second = Promise.withResolvers<void>();
  const connection = createConnection(service, {
    isFull: () => false,
    write(message) {
      if (messages.push(message) === 2) second.resolve();
    },
  });
  const release = hold();
  const notifications = { resourceSubscriptions: ["demo:a", "demo:absent"] };
  const { body } = modernRequest(7, "subscriptions/listen", { notifications });
  connection.receive(body);
  change("demo:a");
  release();
  await second.promise;
  const _meta = { "io.modelcontextprotocol/subscriptionId": 7 };
  expect(messages).toMatchObject([
    { params: { notifications: { resourceSubscriptions: ["demo:a"] }, _meta } },
    { params: { uri: "demo:a", _meta } },
  ]);
  await connection.close();
  expect(messages[2]).toMatchObject({ id: 7, result: { resultType: "complete", _meta } });
});
