import type { Spread } from "./measure.ts";

export interface Bar {
  readonly at: "most" | "least";
  readonly value: number;
}

/** One line of the result: what was measured, what it is compared with, and whether that is good enough. */
export interface Row {
  readonly name: string;
  readonly unit: "ms" | "calls/s" | "MB" | "kB" | "tokens" | "CPU s" | "% of a core";
  readonly octant: Spread;
  /** The work itself, done without a server. */
  readonly direct?: Spread;
  readonly noOp?: Spread;
  /** What the bar is for: a ratio to the floor where there is one, else the figure itself. */
  readonly figure: number;
  /** The figures of all sittings, in order; this row is the one in the middle. */
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

/** Ratios compare; figures without a floor stand for themselves. */
export const isRatio = (row: Row): boolean => row.noOp !== undefined;
