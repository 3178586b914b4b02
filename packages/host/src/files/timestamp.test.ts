import fc from "fast-check";
import { expect, test } from "vitest";
import { createTimestamper, toTimestamp } from "./timestamp.ts";

test.each([
  [0, "1970-01-01T00:00:00.000Z"],
  [1_700_000_000_123.75, "2023-11-14T22:13:20.123Z"],
  [-1e9, "1969-12-20T10:13:20.000Z"],
  [1e18, "+275760-09-13T00:00:00.000Z"],
  [-1e18, "-271821-04-20T00:00:00.000Z"],
])("%d ms is %s", (ms, expected) => {
  expect(toTimestamp(ms)).toBe(expected);
});

test("the times of many files are written as each alone would be", () => {
  const nearOneAnother = fc
    .tuple(
      fc.double({ noNaN: true, min: -1e16, max: 1e16 }),
      fc.array(fc.double({ noNaN: true, min: -2e5, max: 2e5 })),
    )
    .map(([base, steps]) => [base, ...steps.map((step) => base + step)]);
  const small = fc.array(fc.double({ noNaN: true, min: -2e5, max: 2e5 }));
  fc.assert(
    fc.property(fc.oneof(nearOneAnother, small), (times) => {
      expect(times.map(createTimestamper())).toEqual(times.map(toTimestamp));
    }),
  );
});
