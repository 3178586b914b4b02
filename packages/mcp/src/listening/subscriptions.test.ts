import { expect, test } from "vitest";
import { createDemo } from "../fixtures/demo.ts";
import { createService, type Service } from "../service.ts";
import { startListening } from "./listening.ts";
import { createAllowance, createSubscriptions } from "./subscriptions.ts";

/** A server with resources that change when the test says so, and that can be made to wait. */
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

function subscribeOn(service: Service, canTell = () => true) {
  const told: string[] = [];
  const allowance = createAllowance();
  let look = () => {};
  const subscriptions = createSubscriptions({
    ...{ service, allowance, canTell },
    tell(uri) {
      told.push(uri);
      look();
    },
  });
  const until = (uri: string) =>
    new Promise<void>((resolve) => {
      look = () => told.includes(uri) && resolve();
      look();
    });
  return { ...subscriptions, told, until, allowance };
}

test("while a client does not read, its changes are remembered, each resource once", async () => {
  const { service, change } = createSource();
  let isFull = true;
  const { add, told, until, close } = subscribeOn(service, () => !isFull);
  for (const uri of ["demo:a", "demo:b", "demo:last"]) expect(await add(uri)).toBe(true);
  for (let count = 0; count < 1_000; count++) for (const uri of ["demo:a", "demo:b"]) change(uri);
  change("demo:last");
  expect(told).toEqual([]);
  isFull = false;
  await until("demo:last");
  expect(told).toEqual(["demo:a", "demo:b", "demo:last"]);
  close();
});

test("what is left while it is being added does not stay open, and makes room again", async () => {
  const { service, open, hold } = createSource();
  const { add, remove, close, allowance } = subscribeOn(service);
  const before = allowance.left;
  const release = hold();
  const adding = [add("demo:a"), add("demo:b"), add("demo:absent")];
  remove("demo:a");
  close();
  release();
  await Promise.all(adding);
  expect(open.size).toBe(0);
  expect(allowance.left).toBe(before);
  await expect(add("demo:c")).rejects.toBe("the connection closed");
});

test("subscribing twice is subscribing once", async () => {
  const { service, open } = createSource();
  const { add, remove, allowance } = subscribeOn(service);
  const before = allowance.left;
  expect(await Promise.all([add("demo:a"), add("demo:a")])).toEqual([true, true]);
  expect(allowance.left).toBe(before - 1);
  remove("demo:a");
  await expect.poll(() => open.size).toBe(0);
});

test("a listening client is told of nothing before it knows what it will be told of", async () => {
  const { service, change, hold } = createSource();
  const lines: string[] = [];
  const second = Promise.withResolvers<void>();
  const outlet = {
    isFull: () => false,
    write(line: string) {
      if (lines.push(line) === 2) second.resolve();
    },
  };
  const release = hold();
  const filter = { resourceSubscriptions: ["demo:a", "demo:absent"] };
  const listening = startListening(service, { id: 7, filter }, outlet, createAllowance());
  change("demo:a");
  release();
  expect(await listening.acknowledged).toBe(true);
  await second.promise;
  const stamp = '"_meta":{"io.modelcontextprotocol/subscriptionId":7}';
  expect(lines[0]).toContain(`"params":{"notifications":{"resourceSubscriptions":["demo:a"]},${stamp}}`);
  expect(lines[1]).toContain(`"params":{"uri":"demo:a",${stamp}}`);
  listening.stop();
});
