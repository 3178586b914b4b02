import fc from "fast-check";
import { expect, test } from "vitest";
import { layOut, type Span, toSpans } from "./spans.ts";

const at = (second: number) => new Date(second * 1_000).toISOString();

test("model time, calls and waiting come from the events of a session", () => {
  const spans = toSpans([
    { type: "user", at: at(0) },
    { type: "message", at: at(3) },
    { type: "tool_began", at: at(3), call_id: "a", title: "fs.write" },
    { type: "permission_asked", at: at(4), permission_id: "q", call_id: "a", action: "fs.write" },
    { type: "permission_answered", at: at(9), permission_id: "q" },
    { type: "tool_ended", at: at(10), call_id: "a", is_error: true },
  ]);
  expect(spans).toEqual([
    { kind: "model", start: 0, end: 3_000, label: "model" },
    { kind: "call", start: 3_000, end: 4_000, label: "fs.write" },
    { kind: "waiting", start: 4_000, end: 9_000, label: "fs.write" },
    { kind: "call", start: 9_000, end: 10_000, label: "fs.write", failed: true },
    { kind: "model", start: 10_000, label: "model" },
  ]);
});

test("while a question waits, its call does not run", () => {
  const spans = toSpans([
    { type: "tool_began", at: at(0), call_id: "a", title: "fs.write" },
    { type: "permission_asked", at: at(0), permission_id: "q", call_id: "a", action: "fs.write" },
  ]);
  expect(spans).toEqual([{ kind: "waiting", start: 0, label: "fs.write" }]);
});

test("nothing lasts after the end of a run", () => {
  expect(
    toSpans([
      { type: "user", at: at(0) },
      { type: "end", at: at(1) },
    ]),
  ).toEqual([]);
});

test("a long idle time is cut out and named", () => {
  const { bars, gaps } = layOut(
    [
      { kind: "model", start: 0, end: 1_000, label: "a" },
      { kind: "model", start: 3_601_000, end: 3_602_000, label: "b" },
    ],
    4_000_000,
  );
  expect(gaps.map(({ ms }) => ms)).toEqual([3_600_000]);
  expect(bars[1]!.from).toBeCloseTo(0.515, 2);
});

const SPAN = fc.record({
  kind: fc.constantFrom("model", "call", "waiting") as fc.Arbitrary<Span["kind"]>,
  start: fc.nat(1_000_000),
  length: fc.nat(50_000),
});

test("bars stay within the width, and those of one lane never overlap", () => {
  fc.assert(
    fc.property(fc.array(SPAN, { maxLength: 40 }), (spans) => {
      const { bars, lanes } = layOut(
        spans.map(({ kind, start, length }) => ({ kind, start, end: start + length, label: "" })),
        2_000_000,
      );
      expect(bars.length).toBe(spans.length);
      for (const bar of bars) {
        expect(bar.from).toBeGreaterThanOrEqual(0);
        expect(bar.to).toBeLessThanOrEqual(1);
        expect(bar.to).toBeGreaterThan(bar.from);
      }
      for (let lane = 0; lane < lanes; lane++) {
        const row = bars.filter((bar) => bar.lane === lane);
        for (let i = 1; i < row.length; i++)
          expect(row[i]!.from).toBeGreaterThanOrEqual(row[i - 1]!.to - 1e-9);
      }
    }),
  );
});
