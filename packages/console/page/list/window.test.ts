import fc from "fast-check";
import { expect, test } from "vitest";
import { scrollToShow, windowOf } from "./window.ts";

test("a list of 100,000 rows draws only those in view and a few beyond", () => {
  expect(windowOf(100_000, 36, 360_000, 720)).toEqual({ from: 9_992, to: 10_028, height: 3_600_000 });
});

test("every row in view is in the window, whatever the scroll position", () => {
  fc.assert(
    fc.property(
      fc.nat(200_000),
      fc.nat(8_000_000),
      fc.integer({ min: 1, max: 3_000 }),
      (count, top, height) => {
        const { from, to } = windowOf(count, 36, top, height);
        expect(from).toBeGreaterThanOrEqual(0);
        expect(to).toBeLessThanOrEqual(count);
        expect(to - from).toBeLessThanOrEqual(height / 36 + 18);
        for (const y of [top, top + height - 1]) {
          const row = Math.floor(y / 36);
          if (row < count) expect(from <= row && row < to).toBe(true);
        }
      },
    ),
  );
});

test("scrolling to a row moves only when the row is out of view", () => {
  expect(scrollToShow(3, 36, 0, 720)).toBe(0);
  expect(scrollToShow(30, 36, 0, 720)).toBe(31 * 36 - 720);
  expect(scrollToShow(2, 36, 720, 720)).toBe(72);
});
