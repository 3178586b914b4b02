import type { Agent } from "@octant/agent";
import { counted, toOneLine } from "@octant/core";
import { type Line, lineWidth, type Span, type Style, span, truncate } from "../styled.ts";
import type { WorkingAgent } from "./progress.ts";

/** The facts in the status line; undefined ones are left out. */
export type StatusFacts = {
  model: string;
  context?: { used: number; size: number };
  cost?: number | null;
  cacheHitRate?: number;
  branch?: string;
  mode?: string;
  sandbox?: string;
  /** Such as "steps 2/5". */
  plan?: string;
  /** Commands that run, in the background too. */
  jobs?: number;
  agents?: readonly WorkingAgent[];
  /** MCP servers whose tools cannot be used. */
  failedServers?: number;
  queued: number;
  vim?: string;
  note?: string;
  /** The lines of the person's own script, which stand above the others. */
  script?: readonly string[];
  /** Without symbols that a screen reader spells out. */
  isPlain?: boolean;
};

const METER_CELLS = 8;

/** The facts of a session, those from before it was resumed included. `model` is shown until it has one. */
export function sessionFacts(
  { session: { conversation } }: Pick<Agent, "session">,
  model = "",
): Pick<StatusFacts, "model" | "context" | "cost"> {
  const { contextTokens: used, knownCost: cost } = conversation;
  const size = conversation.model?.context_tokens ?? 0;
  return { model: conversation.model?.id ?? model, ...(used > 0 && { context: { used, size } }), cost };
}

export const viewScript = ({ script = [] }: StatusFacts, width: number): readonly Line[] =>
  script.map((line) => truncate([span(toOneLine(line), { role: "muted" })], width));

/** As much as fits: a narrow window shows the parts that matter most. */
export function viewStatus(facts: StatusFacts, width: number): Line {
  const parts = toParts(facts);
  const between = span(facts.isPlain ? ", " : " · ", { role: "rule" });
  const toLine = () => parts.flatMap(({ shown }, i) => (i === 0 ? [shown] : [between, shown]));
  while (parts.length > 1 && lineWidth(toLine()) > width) {
    const least = parts.reduce((one, other) => (other.rank >= one.rank ? other : one));
    parts.splice(parts.indexOf(least), 1);
  }
  return truncate(toLine(), width);
}

/** The higher its rank, the sooner a part is left out. */
type Part = { shown: Span; rank: number };

function toParts(facts: StatusFacts): Part[] {
  const {
    vim,
    model,
    context,
    cost,
    cacheHitRate,
    branch,
    mode,
    sandbox,
    plan,
    jobs,
    agents,
    failedServers,
  } = facts;
  const part = (rank: number, text: string | undefined | false | 0, style: Style = {}): Part[] =>
    text ? [{ rank, shown: span(toOneLine(text), { role: "muted", ...style }) }] : [];
  return [
    ...part(0, vim, { bold: true, role: "accent" }),
    ...part(4, model),
    ...(context ? [{ rank: 5, shown: meter(context, facts.isPlain) }] : []),
    ...part(8, !!cost && `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`),
    ...part(9, cacheHitRate && `cache ${Math.round(cacheHitRate * 100)} %`),
    ...part(6, branch),
    ...part(2, mode),
    ...(sandbox === "off" ? part(2, "sandbox off", { role: "warning" }) : part(7, sandbox)),
    ...part(3, plan),
    ...part(3, jobs && `${counted(jobs, "job")} running`, { role: "accent" }),
    ...part(3, agents?.length && counted(agents.length, "agent"), { role: "accent" }),
    ...part(3, failedServers && `${counted(failedServers, "MCP server")} failed, see /mcp`, {
      role: "warning",
    }),
    ...part(1, facts.queued > 0 && `${facts.queued} queued`, { role: "warning" }),
    ...part(1, facts.note, { role: "warning" }),
  ];
}

function meter({ used, size }: { used: number; size: number }, isPlain = false): Span {
  const share = size > 0 ? Math.min(used / size, 1) : 0;
  if (isPlain) return span(`context ${Math.round(share * 100)} % full`);
  const filled = Math.round(share * METER_CELLS);
  const text = `${"▰".repeat(filled)}${"▱".repeat(METER_CELLS - filled)} ${Math.round(share * 100)} %`;
  return span(text, { role: share >= 0.9 ? "error" : share >= 0.7 ? "warning" : "muted" });
}
