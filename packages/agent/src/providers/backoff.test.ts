import { expect, test } from "vitest";
import { backoffCap, createBackoff, retryAfterMs } from "./backoff.ts";

const LIMITS = { base_ms: 1_000, max_ms: 30_000 };

test("the cap doubles with each attempt and never exceeds the maximum", () => {
  const caps = [0, 1, 2, 3, 4, 5, 63, 1_024, Number.MAX_SAFE_INTEGER].map((attempt) =>
    backoffCap(attempt, LIMITS),
  );
  expect(caps).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, ...Array(4).fill(30_000)]);
});

test("a delay is between zero and the cap, and starts over after a reset", () => {
  const backoff = createBackoff({ ...LIMITS, random: () => 0.5 });
  expect([backoff.next(), backoff.next(), backoff.next()]).toEqual([500, 1_000, 2_000]);
  backoff.reset();
  expect(backoff.next()).toBe(500);
});

test.each([
  [{ "retry-after-ms": "1500", "retry-after": "9" }, "", 1_500],
  [{ "retry-after": "1.5" }, "", 1_500],
  [{ "retry-after": "Sun, 15 Nov 2026 12:00:07 GMT" }, "", 7_000],
  [{ "retry-after": "soon" }, "Please try again in 250ms.", 250],
  [{}, "Rate limit reached, try again in 1.2s", 1_200],
  [{}, "nothing about time", undefined],
] as const)("the wait that a provider asks for is read from %o and %j", (headers, text, expected) => {
  const now = Date.parse("2026-11-15T12:00:00Z");
  expect(retryAfterMs(new Headers(headers), text, now)).toBe(expected);
});
