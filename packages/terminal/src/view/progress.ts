import { type AgentEvent, PlanMark } from "@octant/agent";
import { counted, toOneLine } from "@octant/core";
import type { Role } from "../paint.ts";
import { type Line, span, truncate } from "../styled.ts";

const MAX_ROWS = 8;

const MARKS: Readonly<Record<PlanMark["entries"][number]["status"], { mark: string; role: Role }>> = {
  pending: { mark: "○", role: "muted" },
  in_progress: { mark: "◐", role: "accent" },
  completed: { mark: "✓", role: "success" },
  failed: { mark: "✗", role: "error" },
  skipped: { mark: "–", role: "muted" },
};

/** The plan in an event, if there is one. */
export function planOf(event: AgentEvent): PlanMark | undefined {
  if (event.type !== "mark" || event.name !== "plan") return undefined;
  const { success, data } = PlanMark.safeParse(event.data);
  return success ? data : undefined;
}

const isOpen = ({ status }: PlanMark["entries"][number]) => status === "pending" || status === "in_progress";

export const planProgress = ({ entries }: PlanMark): string =>
  `steps ${entries.filter((entry) => !isOpen(entry)).length}/${entries.length}`;

export const isFinished = ({ entries }: PlanMark): boolean => !entries.some(isOpen);

/** The steps around the current one. */
export function viewPlan({ title, entries }: PlanMark, width: number): Line[] {
  const current = Math.max(entries.findIndex(isOpen), 0);
  const first = Math.min(Math.max(current - 2, 0), Math.max(entries.length - MAX_ROWS, 0));
  const rows = entries.slice(first, first + MAX_ROWS).map(({ content, status }) => {
    const { mark, role } = MARKS[status];
    const text = span(toOneLine(content), status === "in_progress" ? { bold: true } : { role: "muted" });
    return truncate([span(`  ${mark} `, { role }), text], width);
  });
  const hidden = entries.length - rows.length;
  const more: Line[] = hidden > 0 ? [[span(`  … ${hidden} more steps`, { role: "muted" })]] : [];
  return [truncate([span(toOneLine(title), { bold: true })], width), ...rows, ...more];
}

/** A running sub-agent. */
export type WorkingAgent = { role: string; task: string; turns: number };

const MAX_AGENTS = 4;

export function viewAgents(agents: readonly WorkingAgent[], width: number): Line[] {
  const rows = agents
    .slice(0, MAX_AGENTS)
    .map(({ role, task, turns }) =>
      truncate(
        [
          span("  ⤷ ", { role: "accent" }),
          span(toOneLine(role), { bold: true }),
          span(`  ${counted(turns, "turn")} · ${toOneLine(task)}`, { role: "muted" }),
        ],
        width,
      ),
    );
  const hidden = agents.length - rows.length;
  return hidden > 0 ? [...rows, [span(`  … ${hidden} more sub-agents`, { role: "muted" })]] : rows;
}
