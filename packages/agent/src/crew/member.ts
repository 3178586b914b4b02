import type { Agent } from "../agent.ts";
import type { EndReason } from "../events.ts";
import type { Role } from "./roles.ts";

export interface SpawnRequest {
  readonly role: string;
  readonly task: string;
  /** Restricts the role's tools. */
  readonly tools?: readonly string[] | undefined;
  readonly model?: string | undefined;
  /** Works in its own git worktree, merged when it is done. */
  readonly worktree?: boolean | undefined;
}

/** The plan of a member. Its permissions are those of the role, limited by the parent's. */
export interface MemberPlan extends SpawnRequest {
  readonly agent_id: string;
  readonly of: Role;
  /** The session that requested it. */
  readonly parent: string;
  /** The roles above it, nearest first: its permissions are limited by all of them. */
  readonly above: readonly MemberPlan[];
}

export interface WorktreeOutcome {
  readonly branch: string;
  readonly merged: boolean;
  /** Paths that both sides changed; their branch is preserved. */
  readonly conflicts: readonly string[];
  readonly note?: string;
}

/** An agent and its cleanup. */
export interface Member {
  readonly agent: Agent;
  /** After each run: commits the changes in its worktree, if it has one, and merges them when the work is done. */
  finish?(isDone: boolean): Promise<WorktreeOutcome>;
  close(): Promise<void>;
}

export interface MemberInfo {
  readonly agent_id: string;
  readonly role: string;
  readonly task: string;
  readonly state: "running" | "done" | "failed" | "terminated";
  readonly depth: number;
  readonly session_id: string;
  readonly turns: number;
  readonly cost: number | null;
  readonly reason: EndReason | null;
  /** Its final message, bounded. */
  readonly report: string;
  readonly report_truncated?: true;
  readonly worktree?: WorktreeOutcome;
}

const MAX_REPORT_CHARS = 8_000;

/** Its last message, and why it could not continue. */
export const withReason = (
  { report }: MemberInfo,
  reason: string | undefined,
): Pick<MemberInfo, "report"> => ({
  report: [report, reason ?? ""].filter(Boolean).join("\n\n"),
});

export function toReport(text: string): Pick<MemberInfo, "report" | "report_truncated"> {
  if (text.length <= MAX_REPORT_CHARS) return { report: text };
  return { report: text.slice(0, MAX_REPORT_CHARS).toWellFormed(), report_truncated: true };
}
