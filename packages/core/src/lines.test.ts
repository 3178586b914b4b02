import { expect, test } from "vitest";
import { Lines, toRange } from "./lines.ts";

const whole = (start: number, end: number) => ({
  start: { line: start, col: 0 },
  end: { line: end, col: 0 },
});

test.each([
  ["12-40", whole(11, 40)],
  ["12", whole(11, 12)],
  ["1-1", whole(0, 1)],
])("lines %s are counted from 1, both ends included", (lines, range) => {
  expect(toRange({ lines: Lines.parse(lines) })).toEqual(range);
});

test("12- goes to the end", () => {
  expect(toRange({ lines: "12-" })?.start).toEqual({ line: 11, col: 0 });
});

test.each(["0", "0-3", "a", "3-2x", "-3", "1-2-3", " 1"])("'%s' is refused", (lines) => {
  expect(Lines.safeParse(lines).success).toBe(false);
});

test("lines that end before they start, and lines beside a range, are refused", () => {
  expect(() => toRange({ lines: "5-4" })).toThrow("lines end before they start");
  expect(() => toRange({ lines: "5", range: whole(0, 1) })).toThrow("range or lines");
});
