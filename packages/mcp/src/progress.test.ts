import type { Progress } from "@octant/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createProgressReporter } from "./progress.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function collect() {
  const sent: number[] = [];
  const reporter = createProgressReporter((update: Progress) => sent.push(update.progress));
  return { sent, ...reporter };
}

test("the first update goes out at once, later ones ten times a second with the latest value", () => {
  const { sent, report } = collect();
  for (let progress = 1; progress <= 50; progress++) {
    report({ progress });
    vi.advanceTimersByTime(10);
  }
  expect(sent.length).toBeGreaterThanOrEqual(5);
  expect(sent.length).toBeLessThanOrEqual(6);
  vi.advanceTimersByTime(100);
  expect(sent.at(-1)).toBe(50);
});

test("updates only ever go forward", () => {
  const { sent, report } = collect();
  for (const progress of [2, 1, 2, Number.NaN, 3]) {
    report({ progress });
    vi.advanceTimersByTime(100);
  }
  expect(sent).toEqual([2, 3]);
});

test("the end sends what is held back, and nothing follows it", () => {
  const { sent, report, finish } = collect();
  report({ progress: 1 });
  report({ progress: 2 });
  finish();
  report({ progress: 3 });
  vi.advanceTimersByTime(1000);
  expect(sent).toEqual([1, 2]);
  expect(vi.getTimerCount()).toBe(0);
});
