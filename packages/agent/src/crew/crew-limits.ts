import { ToolError } from "@octant/core";

/** The limits of all sub-agents of one root together. */
export interface CrewLimits {
  readonly max_depth: number;
  readonly max_at_once: number;
  readonly max_agents: number;
  /** The models' answers. */
  readonly max_turns: number;
  /** US dollars; models without a known price do not count, unless the person has set a limit. */
  readonly max_cost: number;
}

export const CREW_LIMITS: CrewLimits = {
  max_depth: 3,
  max_at_once: 8,
  max_agents: 64,
  max_turns: 500,
  max_cost: 20,
};

/** The current use of all sub-agents together; `depth` is that of the new one. */
export interface CrewUse {
  readonly depth: number;
  readonly running: number;
  readonly agents: number;
  readonly turns: number;
  readonly cost: number;
}

/** LIMIT_EXCEEDED when one more sub-agent would exceed a limit. */
export function checkLimits(limits: CrewLimits, { depth, running, agents, turns, cost }: CrewUse): void {
  const over = (
    [
      ["max_depth", depth, depth > limits.max_depth],
      ["max_at_once", running + 1, running >= limits.max_at_once],
      ["max_agents", agents + 1, agents >= limits.max_agents],
      ["max_turns", turns, turns >= limits.max_turns],
      ["max_cost", cost, cost >= limits.max_cost],
    ] as const
  ).find(([, , isOver]) => isOver);
  if (!over) return;
  const [name, actual] = over;
  throw new ToolError("LIMIT_EXCEEDED", `${name} of all sub-agents is reached; do the rest yourself`, {
    limit: limits[name],
    actual,
  });
}
