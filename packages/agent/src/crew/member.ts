import { z } from "zod";
import type { Agent } from "../agent.ts";
import type { Role } from "./roles.ts";

export const AgentId = z
  .string()
  .regex(/^agent_[0-9a-z]+$/)
  .describe("agent_… from agent.spawn");

export const SpawnRequest = z.strictObject({
  role: z.string().min(1).describe("plan, solve, code, auto, review, explore, or one of the project's own"),
  task: z.string().min(1).describe("Everything it needs to know; it does not see this conversation"),
  tools: z.array(z.string()).optional().describe("Restrict the role's tools to these"),
  model: z.string().optional().describe("Default: its parent's model"),
  worktree: z
    .boolean()
    .default(false)
    .describe("Work in a separate git worktree of the last commit, merged when done"),
});
export type SpawnRequest = z.input<typeof SpawnRequest>;

const WorktreeOutcome = z.object({
  branch: z.string(),
  merged: z.boolean(),
  conflicts: z
    .array(z.string())
    .readonly()
    .describe("Paths that both sides changed, or with uncommitted changes in the workspace"),
  note: z.string().optional(),
});
export type WorktreeOutcome = z.output<typeof WorktreeOutcome>;

export const MemberInfo = z.object({
  agent_id: AgentId,
  role: z.string(),
  task: z.string(),
  state: z.enum(["running", "done", "failed", "terminated"]),
  depth: z.int(),
  session_id: z.string().describe("Session id; `octant sessions` shows the conversation"),
  turns: z.int(),
  cost: z.number().nullable().describe("US dollars; null if unknown"),
  reason: z.string().nullable().describe("Why its last run ended"),
  report: z.string().describe("Its final report"),
  report_truncated: z.literal(true).optional(),
  worktree: WorktreeOutcome.optional(),
});
export type MemberInfo = z.output<typeof MemberInfo>;

/** The plan of a member. Its permissions are those of the role, limited by the parent's. */
export interface MemberPlan extends SpawnRequest {
  readonly agent_id: string;
  readonly of: Role;
  /** The session that requested it. */
  readonly parent: string;
  /** The roles above it, nearest first: its permissions are limited by all of them. */
  readonly above: readonly MemberPlan[];
}

/** An agent and its cleanup. */
export interface Member {
  readonly agent: Agent;
  /** After each run: commits the changes in its worktree, if it has one, and merges them when the work is done. */
  finish?(isDone: boolean): Promise<WorktreeOutcome>;
  close(): Promise<void>;
}

const MAX_REPORT_CHARS = 8_000;

export function toReport(text: string): Pick<MemberInfo, "report" | "report_truncated"> {
  if (text.length <= MAX_REPORT_CHARS) return { report: text };
  return { report: text.slice(0, MAX_REPORT_CHARS).toWellFormed(), report_truncated: true };
}
