import type { CallEvent, Published } from "@octant/core";
import { expect, test } from "vitest";
import { createCallRows } from "./call-rows.ts";

const facts = (trace_id: string) => ({ trace_id, tool: "fs", action: "read", caller: "me" });
const started = (id: string, at: number): Published<CallEvent> => ({
  seq: at,
  at,
  value: { ...facts(id), type: "started" },
});
const ended = (id: string, at: number): Published<CallEvent> => ({
  seq: at,
  at,
  value: { ...facts(id), type: "ended", code: "OK" },
});
const nothing = { get: () => undefined, subject: () => "" };

test("a short call is one row; a long one is a row while it runs, and another when it ends", () => {
  const rows = createCallRows(nothing, () => 0);
  rows.add(started("short", 10));
  rows.add(started("long", 11));
  rows.add(ended("short", 14));
  expect(rows.take().map(({ event }) => event)).toEqual([
    { ...facts("long"), started_at: 11 },
    { ...facts("short"), code: "OK", started_at: 10, duration_ms: 4 },
  ]);
  rows.add(ended("long", 99));
  expect(rows.take().map(({ event }) => event)).toEqual([
    { ...facts("long"), code: "OK", started_at: 11, duration_ms: 88 },
  ]);
  expect(rows.take()).toEqual([]);
});

test("thousands of calls a second are listed up to a rate, and the others are counted", () => {
  let now = 0;
  const rows = createCallRows(nothing, () => now);
  const taken = [];
  // 5,000 calls a second for ten seconds, in batches of 50 ms.
  for (let batch = 0; batch < 200; batch += 1) {
    for (let n = 0; n < 250; n += 1) {
      rows.add(started(`${batch}-${n}`, now));
      rows.add(ended(`${batch}-${n}`, now));
    }
    taken.push(...rows.take());
    now += 50;
  }
  const counts = taken
    .filter(({ topic }) => topic === "calls_skipped")
    .map(({ event }) => Number(event["count"]));
  const listed = taken.filter(({ topic }) => topic === "calls").length;
  expect(listed + counts.reduce((sum, one) => sum + one, 0)).toBe(50_000);
  expect(listed).toBeGreaterThanOrEqual(9_000);
  expect(listed).toBeLessThanOrEqual(10_300);
});
