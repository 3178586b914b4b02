import { counted, toOneLine } from "@octant/core";
import { type Line, lineWidth, type Span, span, truncate } from "../styled.ts";
import type { WorkingAgent } from "./agents.ts";

/** The facts in the status line; undefined ones are left out. */
export type StatusFacts = {
  model: string;
  context?: { used: number; size: number };
  cost?: number | null;
  cacheHitRate?: number;
  branch?: string;
  mode?: string;
  sandbox?: string;
  /** Such as "plan 2/5". */
  plan?: string;
  /** Commands that run, in the background too. */
  jobs?: number;
  agents?: readonly WorkingAgent[];
  queued: number;
  vim?: string;
  note?: string;
  /** Without symbols that a screen reader spells out. */
  isPlain?: boolean;
};

const METER_CELLS = 8;

export function viewStatus(facts: StatusFacts, width: number): Line {
  const parts: Span[] = [
    ...(facts.vim ? [span(facts.vim.toUpperCase(), { bold: true, role: "accent" })] : []),
    span(toOneLine(facts.model)),
    ...(facts.context ? [meter(facts.context, facts.isPlain)] : []),
    ...(facts.cost ? [span(`$${facts.cost.toFixed(facts.cost < 0.1 ? 4 : 2)}`)] : []),
    ...(facts.cacheHitRate ? [span(`cache ${Math.round(facts.cacheHitRate * 100)} %`)] : []),
    ...(facts.branch ? [span(toOneLine(facts.branch))] : []),
    ...(facts.mode ? [span(toOneLine(facts.mode))] : []),
    ...(facts.sandbox ? [span(facts.sandbox, facts.sandbox === "off" ? { role: "warning" } : {})] : []),
    ...(facts.plan ? [span(facts.plan)] : []),
    ...(facts.jobs ? [span(`${counted(facts.jobs, "job")} running`, { role: "accent" })] : []),
    ...(facts.agents?.length ? [span(counted(facts.agents.length, "agent"), { role: "accent" })] : []),
    ...(facts.queued > 0 ? [span(`${facts.queued} queued`, { role: "warning" })] : []),
    ...(facts.note ? [span(facts.note, { role: "warning" })] : []),
  ];
  const muted = parts.map(({ text, style }) => span(text, style.role ? style : { ...style, role: "muted" }));
  const between = span(facts.isPlain ? ", " : " · ", { role: "rule" });
  const line = muted.flatMap((part, i) => (i === 0 ? [part] : [between, part]));
  return lineWidth(line) > width ? truncate(line, width) : line;
}

function meter({ used, size }: { used: number; size: number }, isPlain = false): Span {
  const share = size > 0 ? Math.min(used / size, 1) : 0;
  if (isPlain) return span(`context ${Math.round(share * 100)} % full`);
  const filled = Math.round(share * METER_CELLS);
  const text = `${"▰".repeat(filled)}${"▱".repeat(METER_CELLS - filled)} ${Math.round(share * 100)} %`;
  return span(text, { role: share >= 0.9 ? "error" : share >= 0.7 ? "warning" : "muted" });
}
