import { expect, test } from "vitest";
import { createStartSlots } from "./start-slots.ts";

test("the next in line gets a slot when one is given back, and giving it back twice frees one", async () => {
  const slots = createStartSlots(1);
  const first = await slots.take();
  const order: string[] = [];
  const second = slots.take().then((release) => {
    order.push("second");
    return release;
  });
  const third = slots.take().then((release) => {
    order.push("third");
    return release;
  });
  first?.();
  first?.();
  const release = await second;
  expect(order).toEqual(["second"]);
  release?.();
  expect(await third).toBeDefined();
});

test("one who leaves the line gets no slot, and takes none from others", async () => {
  const slots = createStartSlots(1);
  const first = await slots.take();
  const stop = new AbortController();
  const left = slots.take(stop.signal);
  const next = slots.take();
  stop.abort();
  expect(await left).toBeUndefined();
  expect(await slots.take(stop.signal)).toBeUndefined();
  first?.();
  expect(await next).toBeDefined();
});
