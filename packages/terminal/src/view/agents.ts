import { toOneLine } from "@octant/core";
import { type Line, span, truncate } from "../styled.ts";

/** A running sub-agent. */
export type WorkingAgent = { role: string; task: string; turns: number };

const MAX_SHOWN = 4;

export function viewAgents(agents: readonly WorkingAgent[], width: number): Line[] {
  const rows = agents
    .slice(0, MAX_SHOWN)
    .map(({ role, task, turns }) =>
      truncate(
        [
          span("  ⤷ ", { role: "accent" }),
          span(toOneLine(role), { bold: true }),
          span(`  ${turns} ${turns === 1 ? "turn" : "turns"} · ${toOneLine(task)}`, { role: "muted" }),
        ],
        width,
      ),
    );
  const hidden = agents.length - rows.length;
  return hidden > 0 ? [...rows, [span(`  … ${hidden} more sub-agents`, { role: "muted" })]] : rows;
}
