import type { Spread } from "./measure.ts";

export interface Bar {
  readonly at: "most" | "least";
  readonly value: number;
}

/** One row of the result: the measurement, its comparison, and whether it meets the bar. */
export interface Row {
  readonly name: string;
  readonly unit: "ms" | "calls/s" | "MB" | "kB" | "tokens" | "CPU s" | "% of a core";
  readonly octant: Spread;
  /** The same work without a server. */
  readonly direct?: Spread;
  readonly noOp?: Spread;
  /** The figure for the bar: a ratio to the floor where there is one, otherwise the value itself. */
  readonly figure: number;
  /** The figures of all sittings, in order; this row is the median. */
  readonly figures?: readonly number[];
  readonly bar?: Bar;
  readonly note: string;
}

export const atMost = (value: number): Bar => ({ at: "most", value });
export const atLeast = (value: number): Bar => ({ at: "least", value });

export function passes({ figure, bar }: Row): boolean {
  if (!bar) return true;
  return bar.at === "most" ? figure <= bar.value : figure >= bar.value;
}

/** Ratios compare; figures without a floor are absolute. */
export const isRatio = (row: Row): boolean => row.noOp !== undefined;
