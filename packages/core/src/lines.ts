import { z } from "zod";
import { invalidArgument } from "./errors.ts";
import type { Range } from "./ids.ts";

/** Whole lines, counted from 1 as text answers show them, both ends included. */
export const Lines = z
  .string()
  .regex(/^[1-9]\d{0,8}(-([1-9]\d{0,8})?)?$/, 'lines are "12-40", "12" or "12-", counted from 1')
  .describe('1-based, such as "12-40"');
export type Lines = z.output<typeof Lines>;

const MAX_LINE = 2 ** 31 - 1;

interface Part {
  readonly range?: Range | undefined;
  readonly lines?: Lines | undefined;
}

/** The range that a caller means by `range` or by `lines`; undefined for everything. `12-` ends at `lineCount`. */
export function toRange({ range, lines }: Part, lineCount = MAX_LINE): Range | undefined {
  if (lines === undefined) return range;
  if (range !== undefined) throw invalidArgument("lines", "give range or lines, not both");
  const [first = "", last = first] = lines.split("-");
  const [start, end] = [Number(first) - 1, last === "" ? Math.max(lineCount, Number(first)) : Number(last)];
  if (end <= start) throw invalidArgument("lines", `lines end before they start: ${lines}`);
  return { start: { line: start, col: 0 }, end: { line: end, col: 0 } };
}
