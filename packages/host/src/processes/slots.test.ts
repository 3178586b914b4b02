import { expect, test } from "vitest";
import { createSlots } from "./slots.ts";

const NEVER_MS = 60_000;

test("a start waits for a slot, and slots are given in the order of asking", async () => {
  const slots = createSlots(1, NEVER_MS);
  const free = await slots.take();
  const order: number[] = [];
  const waiting = [1, 2].map(async (n) => {
    const freeNext = await slots.take();
    order.push(n);
    freeNext();
  });
  expect(order).toEqual([]);
  free();
  await Promise.all(waiting);
  expect(order).toEqual([1, 2]);
});

test("a slot that is freed twice counts once", async () => {
  const slots = createSlots(1, 1);
  const free = await slots.take();
  free();
  free();
  await slots.take();
  await expect(slots.take()).rejects.toMatchObject({
    code: "OVERLOADED",
    details: { retry_after_ms: 1_000 },
  });
});

test("a start that waits in vain is OVERLOADED, and one that is cancelled leaves the queue", async () => {
  const slots = createSlots(1, 1);
  const free = await slots.take();
  await expect(slots.take()).rejects.toMatchObject({ code: "OVERLOADED" });
  const abort = new AbortController();
  const cancelled = createSlots(0, NEVER_MS).take(abort.signal);
  abort.abort(new Error("enough"));
  await expect(cancelled).rejects.toThrow("enough");
  free();
  await expect(slots.take()).resolves.toBeTypeOf("function");
});
