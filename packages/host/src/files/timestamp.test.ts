import { expect, test } from "vitest";
import { toTimestamp } from "./timestamp.ts";

test.each([
  [0, "1970-01-01T00:00:00.000Z"],
  [1_700_000_000_123.75, "2023-11-14T22:13:20.123Z"],
  [-1e9, "1969-12-20T10:13:20.000Z"],
  [1e18, "+275760-09-13T00:00:00.000Z"],
  [-1e18, "-271821-04-20T00:00:00.000Z"],
])("%d ms is %s", (ms, expected) => {
  expect(toTimestamp(ms)).toBe(expected);
});
