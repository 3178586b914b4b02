import { expect, test } from "vitest";
import { baseOf, counted, toAge, toBytes, toCost, toCount, toDuration, toMoment, toPath } from "./format.ts";

test("durations use the unit that a person would", () => {
  expect([0, 0.42, 12.4, 1_240, 42_000, 125_000, 12_000_000, 200_000_000, -1].map(toDuration)).toEqual([
    "< 1 ms",
    "0.4 ms",
    "12 ms",
    "1.2 s",
    "42 s",
    "2 m 05 s",
    "3 h 20 m",
    "2 d 7 h",
    "–",
  ]);
});

test("ages, sizes, counts and costs are short", () => {
  expect([0, 40_000, 300_000, 10_800_000, 200_000_000].map(toAge)).toEqual([
    "now",
    "40 s",
    "5 m",
    "3 h",
    "2 d",
  ]);
  expect([0, 999, 1_000, 1_234_567, 250_000_000].map(toBytes)).toEqual([
    "0 B",
    "999 B",
    "1.0 KB",
    "1.2 MB",
    "250 MB",
  ]);
  expect([950, 12_400, 3_100_000].map(toCount)).toEqual(["950", "12.4k", "3.1M"]);
  expect([null, 0, 0.001, 1.234].map(toCost)).toEqual(["–", "$0", "< $0.01", "$1.23"]);
  expect([counted(1, "call"), counted(2, "call"), counted(1_200, "entry", "entries")]).toEqual([
    "1 call",
    "2 calls",
    "1,200 entries",
  ]);
});

test("a moment names the day only when it is not today", () => {
  const now = new Date(2026, 10, 18, 15, 0).getTime();
  expect(
    [
      new Date(2026, 10, 18, 9, 5),
      new Date(2026, 10, 17, 23, 59),
      new Date(2026, 0, 2, 3, 4),
      new Date(2025, 0, 2),
    ].map((date) => toMoment(date.getTime(), now)),
  ).toEqual(["Today 09:05", "Yesterday 23:59", "2 Jan 03:04", "2 Jan 2025"]);
});

test("a file address becomes a path below its root", () => {
  expect(toPath("file:///home/a/p/src/x%20y.ts", ["/home/a/p"])).toBe("src/x y.ts");
  expect(toPath("file:///etc/%zz")).toBe("/etc/%zz");
  expect(baseOf("/home/a/project/")).toBe("project");
});
