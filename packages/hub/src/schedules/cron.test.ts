import { expect, test } from "vitest";
import { jitterOf, parseCron } from "./cron.ts";

const timesAfter = (cron: string, zone: string, from: string, count: number): readonly string[] => {
  const plan = parseCron(cron, zone);
  const times: string[] = [];
  for (let at: number | undefined = Date.parse(from); times.length < count; ) {
    at = plan.next(at);
    if (at === undefined) break;
    times.push(new Date(at).toISOString().replace(":00.000Z", ""));
  }
  return times;
};

/** Cron, zone, start, and the runs in UTC; written from the zones' transitions, not from the parser. */
const ROWS: readonly (readonly [string, string, string, readonly string[]])[] = [
  // Spring in Berlin: 02:30 does not exist on the 29th, so it runs when the clock jumps to 03:00.
  [
    "30 2 * * *",
    "Europe/Berlin",
    "2026-03-27T12:00Z",
    ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"],
  ],
  // Autumn: 02:30 happens twice on the 25th, and runs once.
  [
    "30 2 * * *",
    "Europe/Berlin",
    "2026-10-23T12:00Z",
    ["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"],
  ],
  // Intervals keep real time through both hours.
  [
    "*/30 * * * *",
    "Europe/Berlin",
    "2026-10-24T23:59Z",
    ["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30"],
  ],
  ["0 * * * *", "Europe/Berlin", "2026-03-29T00:01Z", ["2026-03-29T01:00", "2026-03-29T02:00"]],
  ["30 2 * * *", "America/New_York", "2026-03-07T12:00Z", ["2026-03-08T07:00", "2026-03-09T06:30"]],
  ["30 1 * * *", "America/New_York", "2026-10-31T12:00Z", ["2026-11-01T05:30", "2026-11-02T06:30"]],
  // Half an hour of daylight saving.
  ["0 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00Z", ["2026-10-03T15:30", "2026-10-04T15:00"]],
  ["45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00Z", ["2026-04-04T14:45", "2026-04-05T15:15"]],
  // Midnight does not exist in Cairo on the 24th of April.
  ["0 0 * * *", "Africa/Cairo", "2026-04-22T23:00Z", ["2026-04-23T22:00", "2026-04-24T21:00"]],
  // Samoa had no 30th of December 2011.
  [
    "0 12 * * *",
    "Pacific/Apia",
    "2011-12-28T23:00Z",
    ["2011-12-29T22:00", "2011-12-30T22:00", "2011-12-31T22:00"],
  ],
  ["0 9 * * *", "Asia/Kolkata", "2026-11-18T00:00Z", ["2026-11-18T03:30", "2026-11-19T03:30"]],
  ["0 0 29 2 *", "UTC", "2026-01-01T00:00Z", ["2028-02-29T00:00", "2032-02-29T00:00"]],
  ["0 0 L * *", "UTC", "2027-01-30T00:00Z", ["2027-01-31T00:00", "2027-02-28T00:00"]],
];

test.each(ROWS)("%s in %s after %s", (cron, zone, from, times) => {
  expect(timesAfter(cron, zone, from, times.length)).toEqual(times);
});

test("a sixth field counts seconds", () => {
  const plan = parseCron("*/20 * * * * *", "UTC");
  expect(plan.next(Date.parse("2026-11-18T00:00:05Z"))).toBe(Date.parse("2026-11-18T00:00:20Z"));
});

test.each([
  ["0 0 30 2 *", "UTC", "never runs"],
  ["* * *", "UTC", "it has 3 fields; give five, or six with seconds first"],
  ["0 0 * * * * *", "UTC", "it has 7 fields"],
  ["nonsense", "UTC", "it has 1 field;"],
  ["@nonsense", "UTC", "not a cron expression"],
  ["", "UTC", "it has 0 fields"],
  ["61 * * * *", "UTC", "minute"],
  ["0 0 * * *", "Mars/Olympus", "not a time zone"],
])("'%s' in %s is refused", (cron, zone, why) => {
  expect(() => parseCron(cron, zone)).toThrow(why);
});

test("jitter is within its bounds, differs between times, and is the same when asked again", () => {
  const all = Array.from({ length: 200 }, (_, n) => jitterOf("schedule_1", n * 60_000, 30_000));
  expect(Math.min(...all)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...all)).toBeLessThanOrEqual(30_000);
  expect(new Set(all).size).toBeGreaterThan(150);
  expect(all).toEqual(all.map((_, n) => jitterOf("schedule_1", n * 60_000, 30_000)));
  expect(jitterOf("schedule_1", 5, 0)).toBe(0);
});
