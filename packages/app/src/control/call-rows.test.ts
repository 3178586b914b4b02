import type { CallEvent, Published } from "@octant/core";
import { expect, test } from "vitest";
import { createCallRows } from "./call-rows.ts";

const facts = (trace_id: string) => ({ trace_id, tool: "fs", action: "read", caller: "me" });
const started = (id: string, at: number): Published<CallEvent> => ({
  seq: at,
  at,
  value: { ...facts(id), type: "started" },
});
const ended = (id: string, at: number, code: "OK" | "CONFLICT" = "OK"): Published<CallEvent> => ({
  seq: at,
  at,
  value: { ...facts(id), type: "ended", code },
});
const nothing = { get: () => undefined, subject: () => "", keep() {} };
const countOf = (taken: ReturnType<ReturnType<typeof createCallRows>["take"]>): number =>
  taken.reduce((sum, { topic, event }) => sum + (topic === "calls_skipped" ? Number(event["count"]) : 0), 0);

test("a short call is one row; a long one is a row while it runs, and another when it ends", () => {
  const rows = createCallRows(nothing, () => 0);
  rows.add(started("short", 10));
  rows.add(started("long", 11));
  rows.add(ended("short", 14));
  expect(rows.take().map(({ event }) => event)).toEqual([
    { ...facts("short"), code: "OK", started_at: 10, duration_ms: 4 },
    { ...facts("long"), started_at: 11 },
  ]);
  rows.add(ended("long", 99));
  expect(rows.take().map(({ event }) => event)).toEqual([
    { ...facts("long"), code: "OK", started_at: 11, duration_ms: 88 },
  ]);
  expect(rows.take()).toEqual([]);
});

test("the rows of a batch are in the order in which their calls started", () => {
  const rows = createCallRows(nothing, () => 0);
  for (const [id, at] of [
    ["first", 10],
    ["second", 11],
    ["third", 12],
  ] as const)
    rows.add(started(id, at));
  rows.add(ended("third", 13));
  rows.add(ended("first", 14));
  expect(rows.take().map(({ event }) => event["trace_id"])).toEqual(["first", "second", "third"]);
});

test("thousands of calls a second are listed up to a rate, and the others are counted and not recorded", () => {
  let now = 0;
  const recorded: string[] = [];
  const rows = createCallRows({ ...nothing, keep: (id) => recorded.push(id) }, () => now);
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
  const listed = taken.filter(({ topic }) => topic === "calls");
  expect(listed.length + countOf(taken)).toBe(50_000);
  expect(listed.length).toBeGreaterThanOrEqual(2_900);
  expect(listed.length).toBeLessThanOrEqual(3_100);
  expect(recorded).toEqual(listed.map(({ event }) => event["trace_id"]));
  expect(rows.isBusy()).toBe(true);
  rows.take();
  expect(rows.isBusy()).toBe(false);
});

test("a failed call among thousands of others is listed", () => {
  const rows = createCallRows(nothing, () => 0);
  for (let n = 0; n < 5_000; n += 1) rows.add(ended(`${n}`, 0));
  rows.add(ended("failed", 1, "CONFLICT"));
  const taken = rows.take();
  expect(taken.map(({ event }) => event["trace_id"])).toContain("failed");
  expect(countOf(taken)).toBe(4_000);
});

test("a row that says 'running' gets its end also under load, and short calls get no such row then", () => {
  let now = 0;
  const rows = createCallRows(nothing, () => now);
  rows.add(started("long", 0));
  expect(rows.take()).toHaveLength(1);
  for (let n = 0; n < 5_000; n += 1) rows.add(ended(`${n}`, now));
  now = 500;
  rows.add(started("short", now));
  const ids = rows.take().map(({ event }) => event["trace_id"]);
  expect(ids).not.toContain("short");
  for (let n = 0; n < 5_000; n += 1) rows.add(ended(`more-${n}`, now));
  rows.add(ended("long", now));
  now = 1_000;
  const after = rows.take().map(({ event }) => event);
  expect(after).toContainEqual({ ...facts("long"), code: "OK", started_at: 0, duration_ms: 500 });
  // It has run for a whole batch.
  expect(after).toContainEqual({ ...facts("short"), started_at: 500 });
});
